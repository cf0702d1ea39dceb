"""What a person reads of a scan: totals by day, timelines, and a page."""

from bgsub.scanning.report.page import report_page
from bgsub.scanning.report.summary import by_day, span_text

__all__ = ["by_day", "report_page", "span_text"]
