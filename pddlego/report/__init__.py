"""Reports: the results of one or several evaluations as a value, and this value in several formats."""

from pddlego.report.build import Report, build_report, load_results

__all__ = ["Report", "build_report", "load_results"]
