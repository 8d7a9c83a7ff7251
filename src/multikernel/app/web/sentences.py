"""Captions for the charts of a result: what each chart shows, in a sentence or two."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean, stdev
from typing import Any

import numpy as np

from multikernel.app.charts import drawn_classes
from multikernel.app.drawing import counted, number
from multikernel.app.row_charts import score


def sentences(recipe: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, str]:
    """The captions by the name of their chart."""
    if "worth" in result:
        return {"worth": _of_worth(result["worth"], result["measure"], result.get("less_is_better", False))}
    if "comparison" in result:
        return {"scores": _of_comparison(result)}
    captions = {
        "scores": _of_scores(result, "" if "targets" in result else recipe.get("target", "")),
        "weights": _of_weights(result, recipe["method"] == "automatic"),
    }
    if result.get("scales"):
        captions["scales"] = _of_scales(result["scales"])
    if result["importance"]:
        captions["importance"] = _of_importance(result)
    if result["path"]:
        captions["path"] = _of_path(result["path"], result["path"].get("measure", result["measure"]))
    if "confusion" in result:
        captions["confusion"] = _of_confusion(result)
    if "roc" in result:
        captions["roc"] = _of_roc(result["roc"])
    if "calibration" in result:
        captions["calibration"] = _of_calibration(result["calibration"])
    for k, target_result in enumerate(result.get("targets", [])):
        captions[f"residuals_{k}"] = _of_residuals(target_result["residuals"])
    if "residuals" in result:
        captions["residuals"] = _of_residuals(result["residuals"])
    return captions


def _of_scores(result: Mapping[str, Any], target: str) -> str:
    measure = result["measure"]
    scores = result["scores"]
    less_is_better = result.get("less_is_better", False)
    values = {key: np.array(scores[key]) for key in ("own", "single", "trivial")}
    sign = -1.0 if less_is_better else 1.0
    own_scores, single_scores, trivial_scores = (
        sign * fold_scores for fold_scores in values.values()
    )  # more is better
    ahead = int((own_scores > single_scores).sum())
    behind = int((own_scores < single_scores).sum())
    phrase = {"accuracy": "of the held-out rows are right", "R²": "of the held-out variance is explained"}.get(measure)
    percent = bool(phrase) and (measure == "accuracy" or own_scores.mean() > 0)
    if percent:
        share = f"{own_scores.mean():.1%} {phrase}"
    else:
        if less_is_better and result["task"] == "regression" and target:
            units = f" in the units of {target}"
        else:
            units = ""
        share = f"The {measure} is {number(float(values['own'].mean()))}{units}"
    if own_scores.mean() <= trivial_scores.mean():
        verdict = "That is no better than an answer that looks at no column: these columns do not predict this target."
    elif len(own_scores) == 1:
        verdict = "One tuned Gaussian kernel is as good there."
        if ahead:
            verdict = "It is ahead of one tuned Gaussian kernel there."
        elif behind:
            verdict = "One tuned Gaussian kernel is ahead of it there."
    elif (gain := own_scores - single_scores).mean() > gain.std(ddof=1):
        verdict = (
            f"It is ahead of one tuned Gaussian kernel in {ahead} of {len(own_scores)} folds, by more than the folds "
            "differ."
        )
    elif -gain.mean() > gain.std(ddof=1):
        verdict = (
            f"One tuned Gaussian kernel is ahead of it in {behind} of {len(own_scores)} folds, by more than the folds "
            "differ: take that, or another method."
        )
    else:
        verdict = (
            f"It is ahead of one tuned Gaussian kernel in {ahead} of {len(own_scores)} folds; the two differ by less "
            "than the folds do."
        )
    if len(own_scores) == 1:
        return f"{share}. There is one part only, so that how much this differs by chance is not known. {verdict}"
    if "targets" in result:
        share += f" (the mean over {len(result['targets'])} targets)"
    spread = float(own_scores.std(ddof=1))
    wide = f"{spread:.1%}" if percent else number(spread)
    return f"{share}, give or take {wide} between folds. {verdict}{_of_intervals(result)}"


def _of_worth(worth: Mapping[str, Any], measure: str, less_is_better: bool) -> str:
    ordered = sorted(worth["sources"], key=lambda row: -float(row["adds"]))
    strongest = ordered[0]
    parts = [
        f"All views together reach {score(worth['score'], measure)}, a constant prediction "
        f"{score(worth['constant'], measure)}."
    ]
    if strongest["se"] is not None and strongest["adds"] > 2.0 * strongest["se"]:
        changes = "error grows" if less_is_better else "score falls"
        parts.append(f"Without {strongest['source']} the {changes} most, by {score(strongest['adds'], measure)}.")
    little = [row["source"] for row in ordered if row["se"] is not None and row["adds"] <= 2.0 * row["se"]]
    if little:
        add = "adds" if len(little) == 1 else "add"
        parts.append(f"To the others, {_and(little)} {add} less than two standard errors.")
    repeats = [pair for pair in worth["pairs"] if pair["se"] is not None and pair["interaction"] < -2.0 * pair["se"]]
    if repeats:
        strongest_pair = min(repeats, key=lambda pair: float(pair["interaction"]))
        parts.append(f"Of the pairs, {strongest_pair['first']} and {strongest_pair['second']} repeat each other most.")
    return " ".join(parts)


def _and(names: list[str]) -> str:
    """Names in a list with "and"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def best_first(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a comparison with their means and deviations, the best first.

    Parameters
    ----------
    result : the findings of the run
    """
    sign = 1.0 if result.get("less_is_better") else -1.0
    rows = []
    for row in result["comparison"]:
        deviation = stdev(row["scores"]) if len(row["scores"]) > 1 else None
        rows.append(row | {"mean": mean(row["scores"]), "deviation": deviation})
    return sorted(rows, key=lambda row: sign * row["mean"])


def _of_comparison(result: Mapping[str, Any]) -> str:
    less_is_better = result.get("less_is_better", False)
    sign = -1.0 if less_is_better else 1.0
    rows = best_first(result)
    best_row = rows[0]
    second_row = rows[1]
    apart = sign * (np.array(best_row["scores"]) - np.array(second_row["scores"]))
    if len(apart) == 1:
        close = "on one part only, so that the order may be chance"
    elif apart.mean() <= apart.std(ddof=1):
        close = "by less than the folds differ, so take either"
    else:
        close = "by more than the folds differ"
    views = ""
    if result.get("by_view"):
        learned = ", ".join(result["by_view"])
        views = f" Each view has kernels of its own in {learned}; the others use the columns of all views side by side."
    if result.get("unweighted"):
        views += f" Without class weights, which they do not have: {', '.join(result['unweighted'])}."
    best_name = f"{best_row['method'][:1].upper()}{best_row['method'][1:]}"
    end = "lowest" if less_is_better else "highest"
    views += _of_intervals(result)
    rows_sentence = "All methods were scored on the same held-out rows."
    return f"{best_name} is {end} and {second_row['method']} next, {close}. {rows_sentence}{views}"


def _of_intervals(result: Mapping[str, Any]) -> str:
    if "intervals" not in result:
        return ""
    return (
        " A line is the 95% interval of the mean, from all rounds of folds; it allows for the rows that folds have in "
        "common (corrected resampled t)."
    )


def _of_weights(result: Mapping[str, Any], automatic: bool) -> str:
    rows = result["weights"]["rows"]
    total = sum(row["weight"] for row in rows)
    members = "candidates" if automatic else "kernels"
    if not total:
        return f"None of the {members} has a weight: the answer is the same for all rows."
    positive = [row for row in rows if row["weight"] > 1e-6 * rows[0]["weight"]]
    steady = sum(row["frequency"] >= 0.99 for row in positive)
    if len(rows) > 1 and rows[0]["weight"] - rows[-1]["weight"] <= 1e-9 * rows[0]["weight"]:
        quantity = "Both" if len(rows) == 2 else f"All {len(rows)}"
        return f"{quantity} {members} have the same weight."
    weight_sentence = f"The largest weight, {rows[0]['weight'] / total:.0%} of the sum, is that of {rows[0]['name']}."
    if rows[0].get("spread", 0.0) is None:
        return f"{weight_sentence} {len(positive)} of {len(rows)} {members} take part."
    return (
        f"{weight_sentence} {len(positive)} of {len(rows)} {members} take part, {steady} of them in every fold; a "
        "whisker is the deviation between folds."
    )


def _of_scales(rows: list[Mapping[str, Any]]) -> str:
    little = sum(row["part"] < 0.01 for row in rows)
    if little:
        tail = f" {counted(little, 'column')} of {len(rows)} have less than 1%, and hardly count."
    else:
        tail = ""
    if little == 1:
        tail = tail.replace("have", "has").replace("count.", "counts.")
    if rows[0]["spread"] is None:
        whisker = ""
    else:
        whisker = " A whisker is the deviation between folds."
    return (
        f"The answer changes fastest along {rows[0]['name']}, which has {rows[0]['part']:.0%} of the sum of the scales "
        f"(in units of the mean distance of its cells).{tail}{whisker}"
    )


def _of_importance(result: Mapping[str, Any]) -> str:
    rows = result["importance"]
    if result.get("less_is_better"):
        changes = "the error grows by"
    else:
        changes = "the score loses"
    screened = result.get("screened", 0)  # runs of earlier versions lack it
    if screened:
        tried = f" Of {screened} columns, these {len(rows)} were tried, which extremely randomised trees use most."
    else:
        tried = ""
    if rows[0]["loss"] <= 0:
        return f"No single column matters: {changes} nothing when any one of them is shuffled.{tried}"
    idle = sum(row["loss"] <= (row["spread"] or 0.0) for row in rows)
    if idle == len(rows):
        return (
            f"No column stands out: shuffling {rows[0]['name']} costs most, {number(rows[0]['loss'])}, and that is no "
            f"more than chance.{tried}"
        )
    if idle:
        tail = f" Of {len(rows)} columns, {idle} could be shuffled at a loss no larger than chance."
    else:
        tail = ""
    main_column = f"The answer depends most on {rows[0]['name']}"
    return f"{main_column}: with its cells shuffled {changes} {number(rows[0]['loss'])}.{tail}{tried}"


def _of_path(path: Mapping[str, Any], measure: str) -> str:
    values = path["values"]
    parameter = path["parameter"]
    tail = ""
    count = path["kernels"][path["chosen"]] if path["kernels"] else 0
    if count:
        have = "kernel has" if count == 1 else "kernels have"
        tail += f" {count:.3g} {have} weight there."
    freedom = path["freedom"][path["chosen"]] if path["freedom"] else None
    if freedom:
        tail += f" It has {freedom:.3g} degrees of freedom; with more, it follows single rows more closely."
    measure_phrase = measure if measure == "R²" else f"The {measure}"
    end = "lowest" if path.get("less_is_better") else "highest"
    return (
        f"{measure_phrase} is {end} at {parameter} = {values[path['best']]:g}. The simplest model within one standard "
        f"error of it, at {values[path['chosen']]:g}, was chosen: no other is better by more than the folds differ."
        f"{tail}"
    )


def _of_confusion(result: Mapping[str, Any]) -> str:
    counts = np.array(result["confusion"])
    names = result["classes"]
    mistakes = counts - np.diag(np.diag(counts))
    if mistakes.any():
        i, j = np.unravel_index(mistakes.argmax(), mistakes.shape)
        rows = f"{mistakes[i, j]} of {counted(int(counts[i].sum()), 'row')}"
        mistake_sentence = f"The commonest mistake: {rows} of class {names[i]} predicted as {names[j]}."
    else:
        mistake_sentence = "No held-out row was confused with another class."
    drawn = len(drawn_classes(result["confusion"]))
    if drawn < len(counts):
        which = f" Drawn are the {drawn} of {len(counts)} classes with the most mistakes."
    else:
        which = ""
    return f"{mistake_sentence} Right answers are on the diagonal.{which}"


def _of_roc(curves: list[Mapping[str, Any]]) -> str:
    if len(curves) == 1:
        only_curve = curves[0]
        return (
            f"Of a row of class {only_curve['label']} and one of the other class, the first gets the higher value in "
            f"{only_curve['area']:.1%} of cases. The dashed line is guessing."
        )
    drawn = sum(bool(curve["points"]) for curve in curves)
    worst = min(curves, key=lambda curve: float(curve["area"]))
    if drawn < len(curves):
        which = f" Drawn are the {drawn} of {len(curves)} classes that are hardest to separate."
    else:
        which = ""
    if worst["area"] == 1.0:
        separation_sentence = "Each class against the others: all classes are separated without an error."
    else:
        separation_sentence = (
            f"Each class against the others: {worst['label']} is hardest to separate, with an area of "
            f"{worst['area']:.3f}; the mean of all {len(curves)} is {np.mean([c['area'] for c in curves]):.3f}."
        )
    return f"{separation_sentence}{which} The dashed line is guessing."


def _of_calibration(calibration: Mapping[str, Any]) -> str:
    word = "cannot be trusted"
    if calibration["off"] < 0.05:
        word = "can be trusted"
    elif calibration["off"] < 0.1:
        word = "can be trusted roughly"
    return (
        f"The probabilities {calibration['what']} {word}: on average they are off by "
        f"{calibration['off']:.1%}. On the dashed line they would be exact; larger dots are more rows."
    )


def _of_residuals(residuals: Mapping[str, Any]) -> str:
    return (
        f"A prediction is off by {number(residuals['mean_error'])} on average (root mean square "
        f"{number(residuals['rmse'])}, where the target itself varies by {number(residuals['spread'])}). In the band, "
        f"±{number(residuals['width'])}, are {residuals['covered']:.0%} of the held-out rows: take it as the interval "
        "of a new prediction."
    )
