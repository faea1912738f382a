"""Which function answers a path."""

import pytest

from local.host.errors import HostError
from local.host.functions import load_order
from local.host.routes import Route, find, is_reserved, make_route


def routes(**templates: tuple[str, str]) -> list[Route]:
    """Routes by function name, in load order: `name=("POST", "retry/batch")`."""
    names = sorted(templates, key=load_order)
    return [make_route(name, templates[name][1], [templates[name][0]]) for name in names]


def params(template: str, path: str) -> dict[str, str] | None:
    return make_route("f", template, ["GET"]).match("GET", path)


def test_functions_are_ordered_by_name_without_case_and_underscore_after_letters() -> None:
    names = ["a_again_one", "asleep", "NoRouteName", "off", "onlyget", "on_msg", "nomethods"]
    assert sorted(names, key=load_order) == [
        "asleep",
        "a_again_one",
        "nomethods",
        "NoRouteName",
        "off",
        "onlyget",
        "on_msg",
    ]


def test_the_first_function_by_name_wins_not_the_more_specific_route() -> None:
    # Given a literal route that comes first by name, and one that comes last
    table = routes(
        a_retry_batch=("POST", "retry/batch"),
        z_retry_one=("POST", "retry/{fileId}"),
        a_again_one=("POST", "again/{fileId}"),
        z_again_batch=("POST", "again/batch"),
    )

    # Then only the first one is reached
    assert find(table, "POST", "/retry/batch") == ("a_retry_batch", {})
    assert find(table, "POST", "/retry/abc") == ("z_retry_one", {"fileId": "abc"})
    assert find(table, "POST", "/again/batch") == ("a_again_one", {"fileId": "batch"})


def test_the_method_is_part_of_the_match() -> None:
    table = routes(mix_lit=("GET", "mix/lit"), mix_par=("POST", "mix/{p}"))
    assert find(table, "GET", "/mix/lit") == ("mix_lit", {})
    assert find(table, "POST", "/mix/lit") == ("mix_par", {"p": "lit"})
    assert find(table, "GET", "/mix/x") is None


def test_a_function_without_methods_takes_every_verb() -> None:
    route = make_route("any", "any", None)
    assert all(route.match(verb, "/any") == {} for verb in ("GET", "HEAD", "OPTIONS", "FOO"))


@pytest.mark.parametrize("path", ["//echo", "/echo//", "/echo/x", "/", "/ech"])
def test_other_paths_do_not_match(path: str) -> None:
    assert params("echo", path) is None


@pytest.mark.parametrize("path", ["/echo", "/echo/", "/ECHO"])
def test_case_and_one_slash_at_the_end_do_not_matter(path: str) -> None:
    assert params("/echo", path) == {}


@pytest.mark.parametrize(
    ("template", "path", "values"),
    [
        ("opt/{id?}", "/opt", {}),
        ("opt/{id?}", "/opt/", {}),
        ("opt/{id?}", "/opt/z", {"id": "z"}),
        ("dflt/{id=abc}", "/dflt", {"id": "abc"}),
        ("dflt/{id=abc}", "/dflt/x", {"id": "x"}),
        ("catch/{*rest}", "/catch", {}),
        ("catch/{*rest}", "/catch/", {}),
        ("catch/{*rest}", "/catch/a/b/c", {"rest": "a/b/c"}),
        ("item/{id}", "/Item/AbC", {"id": "AbC"}),
        ("item/{id}", "/item", None),
        ("item/{id}", "/item/", None),
        ("a/{x}/b/{y?}", "/a/1/b", {"x": "1"}),
        ("file-{name}.{ext}", "/file-a.txt", {"name": "a", "ext": "txt"}),
    ],
)
def test_parameters(template: str, path: str, values: dict[str, str] | None) -> None:
    assert params(template, path) == values


@pytest.mark.parametrize(
    ("constraint", "value", "accepted"),
    [
        ("guid", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", True),
        ("guid", "3F2504E04F8911D39A0C0305E82C3301", True),
        ("guid", "{3f2504e0-4f89-11d3-9a0c-0305e82c3301}", True),
        ("guid", "{3f2504e0-4f89-11d3-9a0c-0305e82c3301", False),
        ("guid", "abc", False),
        ("int", "5", True),
        ("int", "-5", True),
        ("int", "x", False),
        ("int", "99999999999", False),
        ("long", "99999999999", True),
        ("bool", "True", True),
        ("bool", "1", False),
        ("alpha", "aB", True),
        ("alpha", "a1", False),
        ("min(3)", "3", True),
        ("min(3)", "2", False),
        ("max(3)", "4", False),
        ("range(1,3)", "2", True),
        ("range(1,3)", "4", False),
        ("length(2)", "ab", True),
        ("length(2,3)", "abcd", False),
        ("minlength(2)", "a", False),
        ("maxlength(2)", "abc", False),
        ("decimal", "1.5", True),
        ("decimal", "x", False),
        ("regex(^a)", "Ab", True),
        ("regex(^a)", "ba", False),
        ("int:min(3)", "2", False),
    ],
)
def test_constraints(constraint: str, value: str, accepted: bool) -> None:
    assert (params(f"c/{{id:{constraint}}}", f"/c/{value}") is not None) == accepted


def test_an_optional_parameter_may_have_a_constraint() -> None:
    assert params("optint/{id:int?}", "/optint") == {}
    assert params("optint/{id:int?}", "/optint/7") == {"id": "7"}
    assert params("optint/{id:int?}", "/optint/q") is None


@pytest.mark.parametrize(
    ("template", "reason"),
    [("odd/{id:nosuch}", "'id' - 'nosuch'"), ("bad/{id", "incomplete parameter")],
)
def test_a_template_that_can_not_be_read_is_a_host_error(template: str, reason: str) -> None:
    with pytest.raises(HostError, match=reason):
        make_route("f", template, None)


def test_the_prefix_comes_before_every_template() -> None:
    assert make_route("f", "/lead", ["GET"], prefix="api").match("GET", "/api/lead") == {}


def test_routes_conflict_when_template_and_a_verb_are_the_same() -> None:
    first = make_route("dup_a", "dup", ["GET"])
    assert first.conflicts_with(make_route("dup_b", "DUP", None))
    assert not first.conflicts_with(make_route("dup_c", "dup", ["POST"]))


def test_the_hosts_own_paths_are_reserved() -> None:
    assert is_reserved("/Admin/x")
    assert is_reserved("runtime")
    assert not is_reserved("administrators")
