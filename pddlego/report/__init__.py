"""Reports: what one or several evaluations say, as a value, and that value in several formats."""

from pddlego.report.build import Report, build_report, load_results

__all__ = ["Report", "build_report", "load_results"]
