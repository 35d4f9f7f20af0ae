# Not run.  Formula/c/costate.rb of homebrew-core
class Costate < Formula
  desc "Differential equations with exact derivatives of the numerical solution"
  homepage "@HOME@"
  url "@URL@"
  sha256 "@SHA256@"
  license "BSD-3-Clause"

  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => [:build, :test]
  depends_on "openblas"

  def install
    ENV.prepend_path "PKG_CONFIG_PATH", Formula["openblas"].opt_lib/"pkgconfig"
    system "meson", "setup", "build", "-Dpython=none", "-Dlapack=library", "-Dumfpack=disabled", "-Dklu=disabled",
           "-Dsuperlu=disabled", "-Dpetsc=disabled", *std_meson_args
    system "meson", "compile", "-C", "build", "--verbose"
    system "meson", "install", "-C", "build"
  end

  test do
    (testpath/"test.c").write <<~C
      #include <costate/costate.h>
      int main(void) { return costate_method_find("rodas5p") ? 0 : 1; }
    C
    flags = shell_output("pkgconf --cflags --libs costate").split
    system ENV.cc, "test.c", "-o", "test", *flags
    system "./test"
  end
end
