"""What bench/run is made of: the files it reads, the programs it times, the goals and the page it writes."""
