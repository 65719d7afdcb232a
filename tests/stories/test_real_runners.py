"""Gates on projects in other languages by the runners themselves, with the commands that docs/languages.md gives."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.gitkit import Content
from tests.stories.kit import Shop

DOCS = Path(__file__).parents[2] / "docs" / "languages.md"
NO_PYTHON: dict[str, Content] = {"shop.py": None, "tests/__init__.py": None, "tests/test_shop.py": None}


@dataclass(frozen=True)
class Project:
    """A cart whose sum begins with ``right``, and with ``wrong`` in the broken patch.

    ``adds`` is the id of the test that sees it, ``others`` are those of the rest; ``own`` is a test file of the
    patch's. ``needs`` are programs, ``also`` says whether what else it needs is there.
    """

    row: str
    needs: tuple[str, ...]
    files: Mapping[str, str]
    product: str
    right: str
    wrong: str
    adds: str
    others: tuple[str, ...]
    own: tuple[str, str, str]
    words: Callable[[list[str]], list[str]] = list
    env: Mapping[str, str] = field(default_factory=dict)
    also: Callable[[], bool] = lambda: True


def documented(row: str) -> tuple[list[str], str, list[list[str]]]:
    """Return command, report and preparation of a runner as the page has them."""
    (line,) = re.findall(rf"^\| {row} \| (.*) \|$", DOCS.read_text(), re.MULTILINE)
    command, report = line.rsplit(" | ", 1)
    prepare = re.search(r"`prepare = (.*?)`", command)
    (words,) = re.findall(r"^`(\[.*?\])`", command)
    return json.loads(words), report.strip("`"), json.loads(prepare[1]) if prepare else []


def rspec_writes_junit() -> bool:
    done = subprocess.run(["ruby", "-e", "require 'rspec_junit_formatter'"], capture_output=True, check=False)
    return done.returncode == 0


GO = Project(
    row="Go",
    needs=("go", "gotestsum"),
    files={
        "go.mod": "module example.org/cart\n\ngo 1.19\n",
        "cart_test.go": """\
package cart

import "testing"

func TestAdds(t *testing.T) {
	if got := Total([]int{1, 2}); got != 3 {
		t.Errorf("got %d", got)
	}
}

func TestLabel(t *testing.T) {
	for _, name := range []string{"one", "two/half"} {
		t.Run(name, func(t *testing.T) {})
	}
}
""",
    },
    product="""\
cart.go
package cart

func Total(prices []int) int {
	sum := 0
	for _, price := range prices {
		sum += price
	}
	return sum
}
""",
    right="sum := 0",
    wrong="sum := 1",
    adds="example.org/cart::TestAdds",
    others=tuple(f"example.org/cart::TestLabel{sub}" for sub in ("", "/one", "/two/half")),
    own=(
        "own_test.go",
        'package cart\n\nimport "testing"\n\nfunc TestOwn(t *testing.T) {}\n',
        "example.org/cart::TestOwn",
    ),
)
PHPUNIT = Project(
    row="PHPUnit",
    needs=("phpunit",),
    words=lambda words: ["phpunit", *words[1:], "tests"],
    files={
        "tests/CartTest.php": """\
<?php
require_once __DIR__ . '/../cart.php';

final class CartTest extends PHPUnit\\Framework\\TestCase
{
    public function testAdds(): void { $this->assertSame(3, total([1, 2])); }

    /** @dataProvider names */
    public function testLabel(string $name): void { $this->assertNotSame('', $name); }

    public static function names(): array { return ['the first' => ['one'], ['two']]; }
}
""",
    },
    product="cart.php\n<?php\nfunction total(array $prices): int { return 0 + array_sum($prices); }\n",
    right="return 0 +",
    wrong="return 1 +",
    adds="CartTest::testAdds",
    others=('CartTest::testLabel with data set "the first"', "CartTest::testLabel with data set #0"),
    own=(
        "tests/OwnTest.php",
        (
            "<?php\nfinal class OwnTest extends PHPUnit\\Framework\\TestCase\n{\n"
            "    public function testOwn(): void { $this->assertTrue(true); }\n}\n"
        ),
        "OwnTest::testOwn",
    ),
)
RSPEC = Project(
    row="RSpec",
    needs=("ruby", "rspec"),
    also=rspec_writes_junit,
    words=lambda words: words[2:],  # without bundler
    files={
        "spec/cart_spec.rb": """\
require_relative '../cart'

RSpec.describe 'cart' do
  it('adds') { expect(total([1, 2])).to eq 3 }
  it('labels <b> & "c"') { expect('a').to eq 'a' }
  it('labels <b> & "c"') { expect('b').to eq 'b' }
end
""",
    },
    product="cart.rb\ndef total(prices)\n  prices.inject(0) { |a, b| a + b }\nend\n",
    right="inject(0)",
    wrong="inject(1)",
    adds="spec.cart_spec::cart adds",
    others=('spec.cart_spec::cart labels <b> & "c"', 'spec.cart_spec::cart labels <b> & "c"#2'),
    own=("spec/own_spec.rb", "RSpec.describe('own') { it('is') {} }\n", "spec.own_spec::own is"),
)
BATS = Project(
    row="Bats",
    needs=("bats",),
    files={
        "test/cart.bats": '@test "adds" {\n  [ "$(sh cart.sh 1 2)" = 3 ]\n}\n\n@test "labels" {\n  true\n}\n'
    },
    product="cart.sh\necho $(($1 + $2 + 0))\n",
    right="+ 0",
    wrong="+ 1",
    adds="cart.bats::adds",
    others=("cart.bats::labels",),
    own=("test/own.bats", '@test "own" {\n  true\n}\n', "own.bats::own"),
)
CTEST = Project(
    row="CTest",
    needs=("ctest", "cmake", "make", "cc"),
    files={
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(cart C)\nenable_testing()\n"
        "file(GLOB tests tests/*.c)\nforeach(test ${tests})\n  get_filename_component(name ${test} NAME_WE)\n"
        "  add_executable(${name} ${test} cart.c)\n  add_test(NAME ${name} COMMAND ${name})\nendforeach()\n",
        "tests/adds.c": "int total(int, int);\nint main(void) { return total(1, 2) != 3; }\n",
        "tests/labels.c": "int main(void) { return 0; }\n",
    },
    product="cart.c\nint total(int a, int b) { return a + b + 0; }\n",
    right="+ 0",
    wrong="+ 1",
    adds="adds",
    others=("labels",),
    own=("tests/own.c", "int main(void) { return 0; }\n", "own"),
)
_DEBIAN = Path("/usr/share/maven-repo")
_PLUGIN = (
    "<plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-{}-plugin</artifactId>"
    "<version>{}</version></plugin>"
)
SUREFIRE = Project(
    row="Maven",
    needs=("mvn", "java"),
    env={"MAVEN_OPTS": f"-Dmaven.repo.local={_DEBIAN}"},  # Debian's packages of Maven's plugins
    also=lambda: all(
        (_DEBIAN / "org" / part).is_dir()
        for part in (
            "apache/maven/plugins/maven-surefire-plugin/2.22.3",
            "apache/maven/plugins/maven-compiler-plugin/3.10.1",
            "apache/maven/plugins/maven-resources-plugin/3.3.0",
            "junit/jupiter/junit-jupiter/5.9.2",
        )
    ),
    files={
        "pom.xml": f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId><artifactId>cart</artifactId><version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies><dependency>
    <groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.9.2</version><scope>test</scope>
  </dependency></dependencies>
  <build><plugins>
    {_PLUGIN.format("surefire", "2.22.3")}
    {_PLUGIN.format("compiler", "3.10.1")}
    {_PLUGIN.format("resources", "3.3.0")}
  </plugins></build>
</project>
""",
        "src/test/java/org/example/CartTest.java": """\
package org.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class CartTest {
    @Test void adds() { assertEquals(3, Cart.total(1, 2)); }

    @Nested class Labels { @Test void none() { } }
}
""",
    },
    product="src/main/java/org/example/Cart.java\npackage org.example;\n\n"
    "public class Cart { public static int total(int a, int b) { return a + b + 0; } }\n",
    right="+ 0",
    wrong="+ 1",
    adds="org.example.CartTest::adds",
    others=("org.example.CartTest$Labels::none",),
    own=(
        "src/test/java/org/example/OwnTest.java",
        "package org.example;\n\nclass OwnTest { @org.junit.jupiter.api.Test void own() { } }\n",
        "org.example.OwnTest::own",
    ),
)


def project(place: Path, what: Project, cache: Path) -> Shop:
    """The project on main. Skips where its runner is not installed."""
    absent = [program for program in what.needs if shutil.which(program) is None]
    if absent or not what.also():
        pytest.skip(f"no {what.row} here: {', '.join(absent) or 'a package that it needs'} is missing")
    command, report, prepare = documented(what.row)
    env = {"GOCACHE": str(cache), **what.env}
    rules = (
        f'[run]\ncommand = {json.dumps(what.words(command))}\nformat = "junit"\nreport = "{report}"\n'
        f"prepare = {json.dumps(prepare)}\n[run.env]\n"
        + "".join(f"{name} = {json.dumps(value)}\n" for name, value in env.items())
    )
    path, _, text = what.product.partition("\n")
    return Shop.open(place, {**NO_PYTHON, **what.files, path: text}, rules=rules)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Go compiles once."""
    return tmp_path_factory.mktemp("cache")


RUNNERS = [
    *(pytest.param(what, id=what.row) for what in (BATS, CTEST)),
    # half a gigabyte of compilers and interpreters, which CI would have to install
    *(pytest.param(what, id=what.row, marks=pytest.mark.slow) for what in (GO, PHPUNIT, RSPEC, SUREFIRE)),
]


@pytest.mark.parametrize("what", RUNNERS)
def test_a_broken_invariant_and_the_patch_s_own_test(tmp_path: Path, what: Project, cache: Path) -> None:
    shop = project(tmp_path, what, cache)
    path, _, text = what.product.partition("\n")
    file, test, own = what.own
    shop.patch({path: text.replace(what.right, what.wrong), file: test})
    told = shop.gate("agent/fix")
    assert told.exit_code == 1, told.out
    rows = {row["nodeid"]: row for row in told.report["tests"]}
    assert {name: row["bucket"] for name, row in rows.items()} == {
        what.adds: "invariant_miss",
        **dict.fromkeys(what.others, "stable_pass"),
        own: "untrusted",
    }
    adds = rows[what.adds]
    assert (adds["introduced"], adds["outcomes"]["H"], adds["outcomes"]["B"]) == (
        True,
        ["failed"] * 3,
        ["passed"],
    )
    assert not [f for f in told.report["findings"] if f["severity"] == "refuse"]


@pytest.mark.slow
@pytest.mark.parametrize("what", RUNNERS)
def test_a_harmless_patch_a_weakened_test_and_a_deleted_one(
    tmp_path: Path, what: Project, cache: Path
) -> None:
    shop = project(tmp_path, what, cache)
    path, _, text = what.product.partition("\n")
    same = what.right.replace("0", "0 ")
    shop.patch({path: text.replace(what.right, same)}, branch="agent/same")
    told = shop.gate("agent/same")
    assert (told.exit_code, set(told.buckets().values())) == (0, {"stable_pass"}), told.out
    tests = next(file for file in what.files if "test" in file.lower() or "spec" in file)
    weak = what.files[tests].replace("3", "4")
    shop.patch({path: text.replace(what.right, what.wrong), tests: weak}, branch="agent/weak")
    told = shop.gate("agent/weak")
    assert told.exit_code == 1
    assert told.row(what.adds.rpartition("::")[2])["bucket"] == "invariant_miss"
    assert [f["path"] for f in told.findings("altered-test")] == [tests]
    shop.patch({tests: None}, branch="agent/deleted")
    told = shop.gate("agent/deleted")
    assert told.exit_code == 1
    assert {f["path"] for f in told.findings("altered-test")} == {tests}
