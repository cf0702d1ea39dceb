"""What measurements of accuracy and of speed share: methods by text, jobs in processes, the machine."""
