#!/usr/bin/env python3
"""Tests check_sizes.py: on declarations that are easily misread, and on a small project with one offence after the other."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from declarations import read_file

CHECK = pathlib.Path(__file__).resolve().parent / "check_sizes.py"
CLEAN = "namespace n {\nstruct S {\n  S() : a_{1}, b_(2) {\n    touch();\n  }\n  int a_, b_;\n};\nvoid f(char c) {\n" \
        "  if (c == '{') touch();\n" + "  touch();\n" * 40 + "}\n}  // namespace n\n"

# The text of a class, its data members, bools and functions.
MEMBERS = [
    ("int a;\n  int b = f(1, 2), c{3};\n  std::array<int, 3> d, e[2];", 5, 0, 0),
    ("bool a = false, b{true}, *c;\n  std::atomic<bool> d{false};\n  const bool e;\n  std::vector<bool> f;", 6, 4, 0),
    ("bool a : 1;\n  unsigned b : 3, c : 4;\n  unsigned int : 2;\n  bool d : 1 = true;", 4, 2, 0),
    ("void (*a)(int, bool);\n  bool (*b[3])(int) = {};\n  std::function<bool(int, int)> c;\n  int (S::*d)() const = nullptr;", 4, 0, 0),
    ("int f(int a, int b);\n  bool g() const { return a_; }\n  operator bool() const;\n  bool operator()(int) const noexcept;\n"
     "  S& operator=(const S&) = delete;\n  S() = default;\n  ~S();\n  virtual void h() = 0;\n  friend bool operator==(S, S);\n"
     "  bool a_;", 1, 1, 6),
    ("union {\n    int a;\n    float b;\n  };\n  struct {\n    bool c, d;\n  };\n  struct {\n    int x, y;\n  } e, f;", 6, 2, 0),
    ("struct Inner {\n    int x, y, z;\n    void f() {}\n  };\n  Inner a;\n  enum class E : int { x, y };\n  enum { p, q } b;\n"
     "  enum class F : char;\n  struct Later;\n  struct stat c;\n  class Later* d;", 4, 0, 0),
    ("static int a;\n  static constexpr bool b = true;\n  using T = int;\n  typedef int (*U)(bool);\n  friend class V;\n"
     "  static_assert(sizeof(int) == 4, \"a; b\");\n  template <class X> void f(X x) { int local = 1; }\n"
     "  template <class X> static bool g;", 0, 0, 1),
    ("alignas(64) std::atomic<std::uint64_t> a{0};\n  [[no_unique_address]] T b;\n  [[maybe_unused]] alignas(8) bool c;\n"
     "  decltype(f(1)) d;\n  std::map<int, std::pair<int, int>> e;\n  std::conditional_t<(1 < 2), int, long> g = 3 < 4;", 6, 1, 0),
    ("// int a;\n  /* bool b; */ const char* c = \"{ int d;\";\n  char e = '{', f = '\\'', g = '\"';\n  int h = 1'000'000;\n"
     "  const char* i = R\"x(}; int j;)x\";", 6, 0, 0),
    (" public:\n  S(int a, int b) noexcept : a_{a}, b_(b), c_{{1, 2}} { touch(); }\n private:\n  int a_;\n"
     "  T b_ = [] { int x; return x; }();\n  T c_{[](int y) { return y; }};", 3, 0, 1),
    ("#if X\n  int a;\n#else\n  int b;\n#endif\n#define M \\\n  int c;\n  auto f() -> std::pair<int, int>;\n"
     "  void g(void (*h)(int) = nullptr) const;\n  explicit(sizeof(int) == 4) S(int);\n  unsigned long long d;", 3, 0, 3),
]


class Declarations(unittest.TestCase):
    def test_members_of_classes(self):
        for body, members, bools, functions in MEMBERS:
            with self.subTest(body):
                facts = read_file("namespace shmemx::n {\nstruct S : Base<int> {\n  " + body + "\n};\n}\n", "a.cpp")
                self.assertEqual(facts.errors, [])
                found = next(c for c in facts.classes if c.name == "n::S")
                self.assertEqual((found.members, found.bools, found.functions), (members, bools, functions))

    def test_names_of_classes(self):
        facts = read_file("namespace {\nclass A final : public B {\n  struct C {};\n};\n}\n"
                          "template <class T>\n  requires(sizeof(T) > 1)\nstruct alignas(8) D<T*> {};\nstruct A::E {};\n"
                          "const struct option table[] = {{1}, {2}};\nenum class F { x };\ntypedef struct { int a; } G;\n", "x/file.cpp")
        self.assertEqual([c.name for c in facts.classes], ["(file)::A::C", "(file)::A", "D", "A::E", "(unnamed)"])

    def test_functions(self):
        facts = read_file("T<int> f(int a, std::map<int, int> b, int (*c)(int, int)) {\n  g({1, 2});\n}\n"
                          "n::S<T>::S(int a)\n    : S_{a},\n      b_(1) {\n}\nn::S::~S() {}\nint S::operator()(int, int) const { return 1; }\n"
                          "extern \"C\" {\nint m(void) { return 0; }\n}\nconst auto lambda = [](int a) {\n  return a;\n};\n"
                          "#ifdef X\nvoid h() {\n#else\nvoid h(int) {\n#endif\n}\n", "a.cpp")
        self.assertEqual([(f.name, f.lines, f.parameters) for f in facts.functions],
                         [("f", 3, 3), ("n::S::S", 4, 1), ("n::S::~S", 1, 0), ("S::operator()", 1, 2), ("m", 1, 0),
                          ("[]", 3, 1), ("h", 5, 0)])
        self.assertEqual([qualifier for _, qualifier in facts.member_definitions], [("n", "S"), ("n", "S"), ("S",)])

    def test_brackets_that_do_not_match(self):
        self.assertEqual(read_file("void f() {\n", "a.cpp").errors, ["its brackets do not match"])


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.project = pathlib.Path(folder.name)
        self.exceptions = self.project / "exceptions.txt"
        self.exceptions.write_text("# none\n")
        self.write("src/rma/a.cpp", CLEAN)

    def write(self, name, text):
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def expect(self, status, text, *arguments):
        run = subprocess.run([sys.executable, CHECK, "--project", self.project, "--exceptions", self.exceptions, *arguments],
                             capture_output=True, text=True, check=False)
        output = " ".join((run.stdout + run.stderr).split())
        self.assertIn(text, output)
        self.assertEqual(run.returncode, status, output)

    def test_limits(self):
        self.expect(0, "1 files, 2 functions, 1 classes, all within limits")
        self.write("src/rma/b.cpp", "// one more\n" * 460)
        self.expect(1, "files: 1 found src/rma/b.cpp: 460 lines, 450 are allowed")
        self.expect(0, "within limits", "--only", "src/base", "--only", "src/rma/a.cpp")
        self.write("src/rma/b.cpp", "void long_one(int a,\n              int b) {\n" + "  touch();\n" * 50 + "}\n")
        self.expect(1, "long_one has 53 lines, 45 are allowed")
        self.write("src/rma/b.cpp", "struct S {\n  S() : a_{1} {\n" + "  touch();\n" * 50 + "  }\n  int a_;\n};\n")
        self.expect(1, "S has 52 lines")
        self.write("src/rma/b.cpp", "void f(int a, int b, int c, T<int, int> d, int e, int (*g)(int, int)) {}\n")
        self.expect(0, "within limits")
        seven = "void f(int a, int b, int c, T<int, int> d, int e, int g, int h) {}\n"
        self.write("src/rma/b.cpp", seven)
        self.expect(1, "f has 7 parameters, 6 are allowed")
        self.write("src/rma/b.cpp", "")
        self.write("src/api/b.cpp", seven)
        self.expect(0, "within limits")

    def test_classes(self):
        self.write("src/rma/c.hpp", "struct C {\n" + "".join(f"  int a{i};\n" for i in range(13)) + "};\n")
        self.expect(1, "classes: 1 found src/rma/c.hpp: C has 13 members, 12 are allowed")
        self.write("src/rma/c.hpp", "struct C {\n  bool a, b, c;\n  std::atomic<bool> d{false}, e{false};\n};\n")
        self.expect(1, "C has 5 bools, 4 are allowed")
        self.write("tests/rma/c.hpp", "struct C {\n  bool a, b, c, d, e;\n};\n")
        self.write("src/rma/c.hpp", "namespace shmemx::n {\nstruct C {\n  void f();\n  void g();\n};\n}\n")
        self.write("src/rma/c.cpp", "namespace shmemx::n {\nvoid C::f() {}\n}\n")
        self.expect(0, "within limits")
        self.write("src/rma/d.cpp", "void shmemx::n::C::g() {}\n")
        self.expect(1, "n::C has 2 sources, 1 are allowed")
        self.expect(0, "0 2 0 2 n::C (src/rma/c.hpp)", "--largest", "9")

    def test_exceptions(self):
        self.write("src/rma/c.hpp", "struct C {\n  bool a, b, c, d, e;\n};\n")
        self.exceptions.write_text("C bools 5: a reason\n")
        self.expect(0, "within limits")
        self.exceptions.write_text("C bools 5:\n")
        self.expect(1, "is not 'what count: reason'")
        self.exceptions.write_text("# kept\nC bools 6: a reason\nC members 20: a reason\nD layout: a reason\n")
        self.expect(1, "exceptions: 3 found exceptions.txt: 'C bools' has 5, not 6; lower it")
        self.expect(1, "'C members' needs no exception any more")
        self.expect(1, "'D' needs no exception any more")
        self.expect(0, "within limits", "--update")
        self.assertEqual(self.exceptions.read_text(), "# kept\nC bools 5: a reason\n")
        self.exceptions.write_text("C layout: a reason\n")
        self.expect(0, "within limits")


if __name__ == "__main__":
    unittest.main()
