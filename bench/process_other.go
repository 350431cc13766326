//go:build !linux

package bench

func runs(int, string) bool { return false }

func processCPU(int) float64 { return 0 }
