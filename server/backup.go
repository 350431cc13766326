package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/echomq/emqd/store/aof"
)

// logIn is the directory of the log below a directory of data.
func (c *Config) logIn(dir string) string { return filepath.Join(dir, c.AppendDirName) }

// Backup copies the log that cfg describes to the directory dest, which a node can be started on or Restore be given,
// and reads the copy to see that it is good. The node may be serving meanwhile; everything it had acknowledged when
// the call began is in the copy. What was done is told to out.
func Backup(cfg *Config, dest string, out io.Writer) error {
	view, err := aof.OpenView(aof.Disk{}, cfg.logIn(cfg.Dir), cfg.AppendFilename)
	if err != nil {
		return err
	}
	defer view.Close()
	state, err := view.Copy(cfg.logIn(dest))
	if err != nil {
		return fmt.Errorf("the copy is not good: %w", err)
	}
	_, err = fmt.Fprintf(out, "%s: %d keys and %d records, up to record %d, node epoch %d\n",
		dest, state.Keys, state.Records, state.Next-1, state.Epoch)
	return err
}

// Restore makes src, a directory of data such as Backup writes, or an RDB file, the data of the node that cfg describes,
// which has none and is not running.
func Restore(cfg *Config, src string, out io.Writer) error {
	dir := cfg.logIn(cfg.Dir)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	lock, err := lockDir(dir, lockPatience)
	if err != nil {
		return err
	}
	defer lock.release()
	info, err := os.Stat(src)
	if err != nil {
		return err
	}
	var state aof.State
	if info.IsDir() {
		state, err = restoreLog(cfg, src, dir)
	} else {
		state, err = restoreRDB(cfg, src, dir)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %d keys and %d records\n", cfg.Dir, state.Keys, state.Records)
	return err
}

func restoreLog(cfg *Config, src, dir string) (aof.State, error) {
	view, err := aof.OpenView(aof.Disk{}, cfg.logIn(src), cfg.AppendFilename)
	if err != nil {
		return aof.State{}, err
	}
	defer view.Close()
	return view.Copy(dir)
}

func restoreRDB(cfg *Config, src, dir string) (aof.State, error) {
	state, err := aof.VerifyRDB(aof.Disk{}, src)
	if err != nil {
		return state, err
	}
	files, err := aof.Vacant(aof.Disk{}, dir, cfg.AppendFilename)
	if err != nil {
		return state, err
	}
	return state, errors.Join(files.Import(src), files.Adopt())
}

// Export writes what the log that cfg describes holds as an RDB file, whether its node is serving or not.
func Export(cfg *Config, name string, out io.Writer) error {
	view, err := aof.OpenView(aof.Disk{}, cfg.logIn(cfg.Dir), cfg.AppendFilename)
	if err != nil {
		return err
	}
	defer view.Close()
	o := &buildOrder{Databases: cfg.Databases, Plain: !cfg.RDBCompression}
	var b built
	if err := writeWhole(aof.Disk{}, name, func(f aof.File) error {
		b, err = o.write(context.Background(), view.Log, f)
		return err
	}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %d keys, %d bytes\n", name, b.Keys, b.Bytes)
	return err
}
