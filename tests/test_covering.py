"""The law cases that are run cover what the product of all parameters covers, and few are needed."""

from __future__ import annotations

import pytest
from cases import CASES, MAPS, PRODUCTS, WEIGHTED, WITHOUT_KERNEL
from covering import PRODUCT, facts

CHOSEN = {"CASES": CASES, "WITHOUT_KERNEL": WITHOUT_KERNEL, "MAPS": MAPS, "WEIGHTED": WEIGHTED}


def facts_of(cases):
    return set().union(*(facts(case) for case in cases))


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_fact_of_the_product_is_covered(name):
    assert facts_of(CHOSEN[name]) == facts_of(PRODUCTS[name])


@pytest.mark.parametrize("name", PRODUCTS)
def test_names_of_cases_are_unique_and_in_the_order_of_the_product(name):
    names = [case.id for case in PRODUCTS[name]]
    assert len(set(names)) == len(names)
    chosen = [case.id for case in CHOSEN[name]]
    assert chosen == [one for one in names if one in set(chosen)]


@pytest.mark.skipif(PRODUCT, reason="the product is run")
def test_few_cases_are_chosen():
    assert len(CASES) <= 0.2 * len(PRODUCTS["CASES"])


def test_facts_tell_parameters_data_and_pairs_apart():
    cases = {case.id: case for case in PRODUCTS["CASES"]}
    heat = facts(cases["LaplacianEigenmaps-neighbors-heat"])
    assert ("value", "affinity", "affinity__weights", "'heat'") in heat
    assert ("estimator", "LaplacianEigenmaps") in heat
    same = facts(cases["DiffusionMap-neighbors-heat"])  # the same code reads the parameter
    assert ("value", "affinity", "affinity__weights", "'heat'") in same
    split = facts(cases["LaplacianEigenmaps-split-distances-largest"])
    assert ("disconnected", "given graph", "largest") in split
    assert ("data", "given graph", "split distances") in split
    assert ("solver", "'lanczos'", "blocked") not in heat
    assert ("solver", "'lanczos'", "blocked") in facts(cases["KernelPCA-blocked-lanczos"])
    landmarks = facts(cases["Isomap-landmarks-greedy"])  # chosen by the code that LandmarkMDS uses
    assert ("value", "distance", "approximation__selection", "'greedy'") in landmarks
    assert ("value", "distance", "approximation__n", "a number") in landmarks
