"""What several tests share: fakes of the ports, drivers of processes, builders of states."""
