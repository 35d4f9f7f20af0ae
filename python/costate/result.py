"""What calls return: values by name."""


class Result:
    """Values by name, as attributes and in print."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __repr__(self):
        width = max(map(len, self.__dict__))
        return "\n".join(f"{name:>{width}}: {value}" for name, value in self.__dict__.items()
                         if not name.startswith("_"))
