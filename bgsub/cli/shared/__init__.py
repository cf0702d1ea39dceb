"""What commands share: options, progress, signals, a cluster to run on."""
