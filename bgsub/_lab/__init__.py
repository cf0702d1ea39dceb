"""What measurements and scans share: methods by text, jobs in processes, the machine, text for pages and tables."""
