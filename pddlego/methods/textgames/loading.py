"""Loads and checks settings (`envs/NAME.toml` with domain and problem), and applies options and variants to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from itertools import product
from typing import TypeVar

from pddlego.errors import SettingError, UsageError
from pddlego.methods.base import Carried, UpperBound, Variant, base_mode, parse_variant
from pddlego.methods.registry import make_codec
from pddlego.methods.setting_files import read_setting, validated
from pddlego.methods.textgames.formalize.constraint import check_kept, is_pddl
from pddlego.methods.textgames.knowledge import ActionRule, Knowledge, beginning_with, blank_knowledge, reference_of
from pddlego.methods.textgames.options import (
    CONTENT_RULES,
    DOMAIN,
    LEARNING,
    MODES,
    PLANNING,
    RULES,
    TEXT_GAME,
    TRANSITIONS,
    TextGameOptions,
    requests_of,
)
from pddlego.methods.textgames.reading.rules import (
    NOTE,
    LearnedRules,
    ReadingRule,
    fits_domain,
    parse_learned,
    whole_group,
)
from pddlego.methods.textgames.settings import (
    ActionTable,
    ClaimRule,
    ClaimTable,
    EndpointAsking,
    FactReading,
    FactRule,
    Fixed,
    FixedRule,
    GameSetting,
    MapRule,
    Parameter,
    ReaderRules,
    Removable,
    RungTable,
    SettingFile,
)
from pddlego.models.base import MAX_REJECTED
from pddlego.pddl import (
    Atom,
    Domain,
    PddlSyntaxError,
    Problem,
    check,
    parse_domain,
    parse_problem,
)
from pddlego.pddl.conditions import Exists, Formula, parse_condition
from pddlego.pddl.domain import Predicate
from pddlego.pddl.invariants import parse_invariant
from pddlego.pddl.names import UnknownNameError
from pddlego.planning import Rung, Search
from pddlego.planning.result import SEARCH_NAMES
from pddlego.runs.folders import find_run
from pddlego.runs.store import kept_text, read_results
from pddlego.util import resources
from pddlego.util.files import read_text
from pddlego.util.text import names_in, nearest, suggestion


def _groups_of(pattern: str) -> set[str]:
    """The names of the pattern's groups."""
    return set(re.compile(pattern).groupindex)


def _reading_rule(domain: Domain, name: str, rule: ReadingRule, map_rule: MapRule | None) -> ReadingRule:
    """Return the rule without `given`. Raises `ValueError` for facts that do not fit the domain, slots or `find`."""
    if rule.does_nothing:
        raise ValueError(f"reading.{name}: it does nothing: write `add`, `forget`, `objects`, `same` or `ignore`")
    slots = {"mark"} if rule.marks else set[str]()
    slots = slots.union(*map(_groups_of, (rule.text, rule.command, rule.task)))
    slots |= {whole_group(group) for expression in rule.expressions for group in expression.groupindex}
    slots = slots.union(*(template.names for template in rule.all_templates()))
    found = {variable for pattern in rule.patterns["find"] for variable in pattern.variables}
    for pattern in rule.all_patterns():
        predicate = domain.predicates_by_name.get(pattern.predicate)
        is_note = pattern.predicate.startswith(NOTE)
        free = pattern.variables - found
        turned = any(term.startswith("{back:") for term in pattern.terms)
        if not is_note and (predicate is None or len(predicate.parameters) != len(pattern.terms)):
            raise UnknownNameError(f"reading.{name}: '{pattern}' is not a fact that the domain has", pattern.predicate)
        if pattern.slots - slots:
            reason = f"'{pattern}' names {sorted(pattern.slots - slots)}, which no slot or group matches"
        elif free:
            reason = f"'{pattern}' names {sorted(free)}, which no fact of `find` binds"
        elif turned and not (map_rule and map_rule.directions):
            reason = f"'{pattern}' needs the directions of [map.directions]"
        else:
            continue
        raise ValueError(f"reading.{name}: {reason}")
    for text in rule.objects:
        term, dash, kind = text.partition(" - ")
        known = term.strip() in found or not names_in(text) - slots
        if not dash or kind.strip() not in domain.types or not known:
            raise UnknownNameError(f"reading.{name}: '{text}' is not an object such as {{name}} - type", kind.strip())
    return rule.model_copy(update={"given": False})


def _fixed_rule(rule: FixedRule) -> FixedRule:
    """Return a valid rule unchanged. Raises `ValueError` if its command has a group that its pattern does not have."""
    unknown = names_in(rule.command) - _groups_of(rule.when)
    if unknown:
        raise ValueError(f"rule: '{rule.command}' names {sorted(unknown)}, which no group of '{rule.when}' matches")
    return rule


def _fact_rule(domain: Domain, start: Problem, name: str, rule: FactRule) -> FactReading:
    """Parse the condition of a rule. Raises `ValueError` for an added fact with an unknown predicate or variable."""
    variables = {word for pattern in rule.when for word in pattern.split()}
    variables |= {f"?{group}" for group in _groups_of(rule.text) | _groups_of(rule.task)}
    for template in rule.add:
        atom = domain.atom(template)
        if atom is None:
            raise UnknownNameError(f"facts.{name}: '{template}' is not a fact that the domain has", template)
        unknown = sorted(arg for arg in atom.args if arg.startswith("?") and arg not in variables)
        if unknown:
            raise ValueError(f"facts.{name}: '{template}' names {unknown}, which nothing matches")
        predicate = domain.predicates_by_name[atom.predicate]
        known = _condition(f"facts.{name}", rule.known, predicate, domain, start) if rule.known else None
    return FactReading(rule, known)


def _looked_up_in(domain: Domain, name: str, text: str) -> Atom | None:
    """Parse the pattern `where` of the action `name`; None without one. Raises `ValueError` if it does not fit."""
    if not text:
        return None
    atom = domain.atom(text)
    if atom is None:
        raise UnknownNameError(f"actions.{name}.where: '{text}' is not a fact that the domain has", text)
    if not {parameter.name for parameter in domain.actions_by_name[name].parameters} & set(atom.args):
        raise ValueError(f"actions.{name}.where: '{text}' has no parameter of the action in it")
    return atom


T = TypeVar("T")


def load(name: str, options: TextGameOptions | None = None) -> GameSetting:
    """Load `envs/NAME.toml` with its domain, and apply the user's options.

    Raises `UsageError` for an unknown name, parameter, value, fold or search, with a list of the known ones, and
    `SettingError` for an invalid file.
    """
    options = options or TextGameOptions()
    setting = _with_parameters(_build(name), options.parameters)
    if options.fold is not None:
        game = setting.game
        if options.fold not in game.folds:
            folds = ", ".join(game.folds)
            what = f"{name} has no fold '{options.fold}'"
            raise UsageError(what, f"Its folds are: {folds}.", "Choose one with --set fold=.")
        setting = replace(
            setting, game=game.model_copy(update={"fold": options.fold}), all_seeds=game.folds[options.fold]
        )
    if options.max_steps is not None:
        setting = replace(setting, max_steps=options.max_steps)
    default = None if options.search is None else _parse_search(options.search)
    searches = {rung: _parse_search(text) for rung, text in options.searches.items()}
    ladder = tuple(
        replace(rung, search=searches.get(rung.name, default or rung.search)) for rung in setting.start.ladder
    )
    setting = replace(setting, start=replace(setting.start, ladder=ladder))
    places = {DOMAIN: options.domain_from, RULES: options.rules_from, TRANSITIONS: options.transitions_from}
    texts = {text.option: _text_of(place, name, text) for text, place in places.items() if place is not None}
    if RULES.option in texts:
        _check_rules(setting.start.domain, texts[RULES.option], str(options.rules_from))
    if is_pddl(options.constraint):
        check_kept(options.constraint, setting.start, f"The constraint cannot be kept in {name}")
    return replace(setting, sources={**setting.sources, **texts}, constraint=options.constraint)


def _parse_search(text: str) -> Search:
    """Parse a search. Raises `UsageError` for an unknown one, with a list of the known ones."""
    try:
        return Search.parse(text)
    except ValueError as error:
        advice = suggestion(text, SEARCH_NAMES, "Example: --search 'astar(lmcut)'.")
        raise UsageError(f"'{text}' is not a search", f"{error}.", advice) from error


def _build(name: str, is_baseline: bool = False) -> GameSetting:
    """Load a setting with its baseline setting. A baseline setting has no baseline of its own."""
    table = read_setting(name, TEXT_GAME)
    file = validated(name, SettingFile, table)
    sources = dict(table.sources)
    for part in filter(None, (file.planning.domain, file.planning.problem)):
        sources[f"domains/{part}.pddl"] = resources.read("domains", f"{part}.pddl")
    domain = _parsed("domain", parse_domain, file.planning.domain, sources)
    start = Problem("start", domain.name)
    if file.planning.problem:
        start = _parsed("problem", parse_problem, file.planning.problem, sources)
    sources |= {f"prompts/{prompt}": text for prompt, text in game_prompts(file.prompts.folder)}
    baseline = _build(file.baseline, is_baseline=True) if file.baseline and not is_baseline else None
    sources |= baseline.sources if baseline is not None else {}
    try:
        _check_problem("planning.problem", domain, start)
        ladder = tuple(_rung(domain, start, rung) for rung in file.ladder)
        start = start if file.planning.problem else start.with_goal(ladder[0].goal)
        rules = {name: _reading_rule(domain, name, rule, file.map) for name, rule in file.reading.items()}
        return GameSetting(
            name=name,
            title=file.title,
            about=file.about,
            max_steps=file.game.max_steps,
            seeds=file.seeds,
            all_seeds=file.game.folds[file.game.fold],
            sources=sources,
            game=file.game,
            parameters={key: _parameter(key, parameter) for key, parameter in file.parameters.items()},
            start=_knowledge(file, domain, start, ladder),
            observing=file.observation,
            asking=EndpointAsking(file.prompts.folder, file.prompts.hidden, file.protocol),
            reader=ReaderRules(
                file.prompts.reader or file.prompts.folder,
                tuple(rules.values()),
                symmetric=frozenset(name for name, table in file.claims.items() if table.symmetric),
                opinions=frozenset(name for name, table in file.claims.items() if table.opinion),
                map=file.map,
                given=tuple(rule for name, rule in rules.items() if file.reading[name].given),
            ),
            fixed=Fixed(tuple(_fixed_rule(rule) for rule in file.rule if not rule.ablated), file.planning.script),
            map=_map_rule(domain, file.map) if file.map else None,
            claims={name: _claim_rule(domain, start, name, table) for name, table in file.claims.items()},
            facts=tuple(_fact_rule(domain, start, name, rule) for name, rule in file.facts.items()),
            removable=_removable(file, ladder, baseline),
        )
    except ValueError as error:
        advice = _near_name(error.names, domain) if isinstance(error, UnknownNameError) else "Fix the file."
        raise SettingError(f"envs/{name}.toml is not a valid setting", f"{error}.", advice) from error


def _near_name(words: Iterable[str], domain: Domain) -> str:
    """The advice on unknown words: `Did you mean 'wanted'?` if one is similar to a name of the domain."""
    names = {*domain.predicates_by_name, *domain.actions_by_name, *domain.types}
    near = next((near for word in words if word not in names and (near := nearest(word, names))), None)
    return f"Did you mean '{near}'?" if near else "Fix the file."


def _knowledge(file: SettingFile, domain: Domain, start: Problem, ladder: tuple[Rung, ...]) -> Knowledge:
    return Knowledge(
        domain,
        start,
        ladder,
        _action_rules(domain, file.actions),
        only_planned=tuple(_stated(domain, name, "only_planned") for name in file.planning.only_planned),
        unused=tuple(
            _stated(domain, name, "optional") for name in file.planning.optional if name not in file.planning.uses
        ),
        invariants=tuple(
            parse_invariant(domain, **invariant.model_dump(), directions=file.map.directions if file.map else {})
            for invariant in file.invariant
        ),
        placeholder=file.planning.placeholder,
        sought=_sought(domain, start, file.planning.sought) if file.planning.sought else None,
    )


def _sought(domain: Domain, start: Problem, text: str) -> Exists:
    """Parse `planning.sought`. Raises `ValueError` if it is not a condition on variables."""
    try:
        condition = parse_condition(text)
    except PddlSyntaxError as error:
        raise ValueError(f"planning.sought: '{text}' is not one PDDL condition") from error
    if not isinstance(condition, Exists):
        raise ValueError(f"planning.sought: '{text}' does not begin with (exists (?thing - type")
    _check_problem("planning.sought", domain, start.with_goal(condition))
    return condition


def _parsed(kind: str, parse: Callable[[str], T], name: str, sources: Mapping[str, str]) -> T:
    try:
        return parse(sources[f"domains/{name}.pddl"])
    except PddlSyntaxError as error:
        raise SettingError(f"domains/{name}.pddl is not a valid {kind}", f"{error}.", "Fix the file.") from error


def _check_problem(where: str, domain: Domain, problem: Problem) -> None:
    for defect in check(domain, problem):
        if defect.blocking:
            raise ValueError(f"{where}: {defect.message}")


def _map_rule(domain: Domain, rule: MapRule) -> MapRule:
    if rule.room not in domain.types:
        raise UnknownNameError(f"map.room: '{rule.room}' is not a type of the domain", rule.room)
    optional = {"exit": 3, "closed": 2, "things": 2, "holding": 1, "needed": 1, "wanted": 2, "done": 2}
    for key, arity in {"here": 1, "visited": 1, **optional}.items():
        name = getattr(rule, key)
        if key in optional and not name:
            continue
        predicate = domain.predicates_by_name.get(name)
        if predicate is None or len(predicate.parameters) != arity:
            raise UnknownNameError(f"map.{key}: '{name}' is not a predicate with {arity} argument(s)", name)
    return rule


def _claim_rule(domain: Domain, start: Problem, name: str, table: ClaimTable) -> ClaimRule:
    """Parse the condition of a claim. Raises `ValueError` if the condition or the predicate is invalid."""
    predicate = domain.predicates_by_name.get(name)
    if predicate is None:
        raise UnknownNameError(f"claims.{name}: '{name}' is not a predicate of the domain", name)
    known = _condition(f"claims.{name}", table.known, predicate, domain, start) if table.known else None
    return ClaimRule(known, table.opinion, table.guess, table.symmetric)


def _condition(where: str, text: str, predicate: Predicate, domain: Domain, start: Problem) -> Formula:
    """A condition on the parameters of a predicate. Raises `ValueError` if it cannot be read."""
    try:
        known = parse_condition(text)
    except PddlSyntaxError as error:
        raise ValueError(f"{where}.known: '{text}' is not one PDDL condition") from error
    _check_problem(f"{where}.known", domain, start.with_goal(Exists(predicate.parameters, known)))
    return known


def _parameter(key: str, parameter: Parameter) -> Parameter:
    try:
        return parameter.read(str(parameter.value))
    except ValueError as error:
        raise ValueError(f"parameters.{key}: {error}") from error


def _rung(domain: Domain, start: Problem, rung: RungTable) -> Rung:
    try:
        goal = parse_condition(rung.goal)
    except PddlSyntaxError as error:
        raise ValueError(f"ladder '{rung.name}': the goal is not one PDDL condition") from error
    _check_problem(f"ladder '{rung.name}'", domain, start.with_goal(goal))
    return Rung(rung.name, goal, Search.parse(rung.search), rung.explores)


def _action_rules(domain: Domain, rules: Mapping[str, ActionTable]) -> dict[str, ActionRule]:
    own, named = set(domain.actions_by_name), set(rules)
    missing, unknown = sorted(own - named), sorted(named - own)
    if missing or unknown:
        raise UnknownNameError(f"actions: no command for {missing}, no such action {unknown}", *unknown)
    checked_rules = {}
    for name, rule in rules.items():
        parameters = {parameter.name.lstrip("?") for parameter in domain.actions_by_name[name].parameters}
        where = _looked_up_in(domain, name, rule.where)
        parameters |= {arg.lstrip("?") for arg in where.args} if where else set()
        used = names_in(rule.command) | _groups_of(rule.expect)
        if used - parameters:
            raise ValueError(f"actions.{name}: {sorted(used - parameters)} is not a parameter of the action")
        checked_rules[name] = ActionRule(rule.command, rule.expect, where, gains=rule.gains)
    return checked_rules


def _removable(file: SettingFile, ladder: tuple[Rung, ...], baseline: GameSetting | None) -> Removable:
    without = tuple(rung for rung, table in zip(ladder, file.ladder, strict=True) if not table.ablated)
    changed = len(without) < len(ladder)
    rules = tuple(_fixed_rule(rule) for rule in file.rule if rule.ablated)
    return Removable(without if changed else (), rules, baseline, file.prompts.recipe)


def _stated(domain: Domain, name: str, field: str) -> str:
    if name not in domain.predicates_by_name or name in domain.rules:
        raise UnknownNameError(f"planning.{field}: '{name}' is not a predicate that a fact can have", name)
    return name


def _with_parameters(setting: GameSetting, overrides: Mapping[str, str]) -> GameSetting:
    parameters = dict(setting.parameters)
    for key, text in overrides.items():
        if key not in parameters:
            raise UsageError(f"{setting.name} has no parameter '{key}'", _describe(parameters), "Use --set KEY=VALUE.")
        known = parameters[key]
        try:
            parameters[key] = known.read(text)
        except ValueError:
            kind = "" if known.choices else "a whole number "
            reason = f"It takes {kind}{known.allowed} ({known.about})."
            raise UsageError(f"{key}={text} is not possible", reason, _describe(parameters)) from None
    return replace(setting, parameters=parameters)


def _describe(parameters: Mapping[str, Parameter]) -> str:
    values = {name: "empty" if parameter.value == "" else parameter.value for name, parameter in parameters.items()}
    lines = [f"{name} ({parameter.range}, now {values[name]})" for name, parameter in parameters.items()]
    return f"The parameters are: {', '.join(lines)}." if lines else "It has none."


_SHARED = "textgames"
"""The folder of prompts that all games share in addition to those at the top level."""


def game_prompts(folder: str) -> Iterable[tuple[str, str]]:
    """The file name and text of every prompt that a game with this folder of prompts may use.

    Raises `SettingError` for a folder outside of the prompts.
    """
    for root in resources.roots("prompts"):
        resources.inside(root, "prompts", folder)
    names = [f"{name}.j2" for name in resources.names("prompts", ".j2")]
    for place, suffix in product(dict.fromkeys((_SHARED, folder)), (".j2", ".txt")):
        names += [f"{place}/{name}{suffix}" for name in resources.names(f"prompts/{place}", suffix)]
    for name in names:
        yield name, resources.read("prompts", name)


_GROWTH = 12_000
"""Estimated characters of the problem, the news and the history in a request, without a rejected answer."""


def _text_of(place: str, setting: str, carried: Carried) -> str:
    """The text to begin from: that of a file, or the one with which a run last won. Raises `UsageError`."""
    writing, what = [mode.name for mode in MODES if mode.carries == carried], carried.kind
    path = find_run(place)
    if path.is_file():
        return read_text(path)
    results = read_results(path)[0] if path.is_dir() else []
    own = [result for result in results if result.cell.setting == setting and base_mode(result.cell.mode) in writing]
    text = kept_text(path, own, make_codec(), what, carried.of_lost)
    if not text:
        won = "" if carried.of_lost else " that was won with one of the model's"
        reason = f"It holds no episode of {setting}{won}."
        raise UsageError(f"{place} has no {what}", reason, f"Name a run in mode {' or '.join(writing)}, or a file.")
    return text


def upper_bound(setting: GameSetting, mode: str, options: TextGameOptions, retries: int) -> UpperBound:
    """The upper bound of model calls: each command needs a new question, and each question all its retries."""
    base = re.split("[-+]", base_mode(mode))[0]  # the modes that write a domain share their prompts
    prompts = {name: len(text) for name, text in setting.sources.items() if name.startswith("prompts/")}
    own = sum(length for name, length in prompts.items() if base in name or "notes" in name)
    attempts = setting.asking.protocol.attempts or 1 + retries
    listing = CONTENT_RULES in parse_variant(mode, MODES).without
    calls = setting.max_steps * attempts * (requests_of(mode) + listing)
    return UpperBound(calls, own + len(setting.start.domain.text) + _GROWTH + MAX_REJECTED)


def searches(setting: GameSetting, mode: str) -> tuple[Search, ...]:
    """The searches for the goals of the ladder; none in modes that do not plan."""
    variant = parse_variant(mode, MODES)
    ladder = setting_for(setting, variant).start.ladder if variant.mode.name in PLANNING else ()
    return tuple(rung.search for rung in ladder)


def setting_for(setting: GameSetting, variant: Variant, text: str | None = None) -> GameSetting:
    """The setting without the parts that a variant removes, and without a domain if the model writes the domain.

    A model that writes a domain or rules begins from `text`, or from that of `--from` if it is empty or None. None
    also says that nothing is handed on to later episodes; without rules of `--from`, mode `edit` then asks for none.

    Raises `UsageError` for a part that the setting does not have, and for an invalid text.
    """
    setting, carries = without_parts(setting, variant.without), variant.mode.carries
    is_handed_on, text = text is not None, text or setting.sources.get(carries.option, "")
    if carries == RULES:
        notes, learns = f"prompts/{setting.asking.prompts}/notes.j2", variant.mode.name in LEARNING
        if learns and notes not in setting.sources:
            what, reason = f"{setting.name} cannot be played in mode {variant.mode.name}", f"It has no {notes}."
            raise UsageError(what, reason, "Write there which facts to state, or choose another game or --mode.")
        start = _with_rules(setting.start, text, given=setting.reader.given if learns else ())
        asking = replace(setting.asking, rules=not learns and (is_handed_on or bool(text)))
        return replace(setting, sources={**setting.sources, RULES.option: text}, start=start, asking=asking)
    if carries != DOMAIN:
        return replace(setting, sources={**setting.sources, carries.option: text}) if carries.kind else setting
    reference = reference_of(setting.start)
    blank = blank_knowledge(reference, variant.without)
    return replace(
        setting,
        sources={**setting.sources, DOMAIN.option: text},
        start=beginning_with(blank, text) if text else blank,
        reader=replace(setting.reader, reference=reference),
        fixed=replace(setting.fixed, script=""),
        removable=Removable(),
    )


_OTHER_RULES = "Fix them, or choose another --from."


def _learned_in(text: str, place: str) -> LearnedRules:
    """The rules in the text of a `place`. Raises `UsageError` for an invalid text."""
    try:
        return parse_learned(text)
    except ValueError as error:
        raise UsageError(f"The rules in {place} are invalid", f"{error}.", _OTHER_RULES) from error


def _check_rules(domain: Domain, text: str, place: str) -> None:
    """Raise `UsageError` for an invalid text of a `place`, and for rules of another domain."""
    other = next((rule for rule in _learned_in(text, place).rules if not fits_domain(rule, domain)), None)
    if other is not None:
        reason = f'The rule for "{other.sentence[0]}" has a fact that {domain.name} does not have.'
        raise UsageError(f"The rules in {place} are of another game", reason, _OTHER_RULES)


def _with_rules(start: Knowledge, text: str, given: tuple[ReadingRule, ...] = ()) -> Knowledge:
    """The knowledge with the rules in a text that fit its domain, and `given` rules for other sentences.

    Raises `UsageError` for an invalid text.
    """
    learned = _learned_in(text, "the text to begin with")
    fitting = (rule for rule in learned.rules if fits_domain(rule, start.domain))
    return replace(start, learned=replace(learned, rules=LearnedRules(given).with_rules(fitting).rules))


def without_parts(setting: GameSetting, without: Collection[str]) -> GameSetting:
    """The setting with replacements for the removed parts: its ladder, domain, prompts and recipe.

    Raises `UsageError` for a part that the setting does not have.
    """
    for part in without:
        _check_part(setting, part, without)
    removable = setting.removable
    if "ladder" in without and "domain" not in without:  # with another domain there is another ladder anyway
        rules = (*setting.fixed.rules, *removable.rules)
        start = replace(setting.start, ladder=removable.ladder)
        setting = replace(setting, start=start, fixed=replace(setting.fixed, rules=rules))
    if "recipe" in without:
        hidden = (*setting.asking.hidden, *removable.recipe)
        setting = replace(setting, asking=replace(setting.asking, hidden=hidden))
    if "start-file" in without:
        empty = Problem("start", setting.start.domain.name, goal=setting.start.problem.goal)
        setting = replace(setting, start=setting.start.with_problem(empty))
    baseline = removable.baseline
    if "domain" in without and baseline is not None:
        start = replace(baseline.start, placeholder=setting.start.placeholder)
        setting = replace(
            setting,
            start=start,
            reader=baseline.reader,
            fixed=baseline.fixed,
            map=baseline.map,
            claims=baseline.claims,
            facts=baseline.facts,
        )
    if "prompts" in without and baseline is not None:
        own, theirs = setting.asking, baseline.asking
        protocol = own.protocol.model_copy(update={"plain_requests": theirs.protocol.plain_requests})
        setting = replace(setting, asking=EndpointAsking(theirs.prompts, (*own.hidden, *theirs.hidden), protocol))
    return setting


def _check_part(setting: GameSetting, part: str, without: Collection[str]) -> None:
    """Raise `UsageError` if the setting has no replacement for the part, or removes it from every mode already."""
    removable = setting.removable
    is_removable = {
        "ladder": bool(removable.ladder) or (removable.baseline is not None and "domain" in without),
        "domain": removable.baseline is not None,
        "prompts": removable.baseline is not None,
        "recipe": bool(removable.recipe),
        "start-file": bool(setting.start.problem.facts),
        CONTENT_RULES: bool(setting.fixed.script),
    }
    reason = "" if is_removable.get(part, True) else f"Its file does not say what to play without its {part}."
    removed = setting.asking.protocol.removed
    if part in removed:
        reason = f"It is played without {', '.join(removed)} in every mode."
    if reason:
        raise UsageError(f"{setting.name} has no {part} to take out", reason, f"Leave '-no-{part}' out.")
