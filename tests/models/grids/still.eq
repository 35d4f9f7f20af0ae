model still "nothing depends on states; a name that resembles a placeholder; the NAME of a model"
size N
grid i: N wall
parameter NAME = 2
state NAME_of[i] = NAME
NAME_of' = NAME*sin(t)
