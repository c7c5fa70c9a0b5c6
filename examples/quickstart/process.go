package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// workerEnv marks a process as a worker of another one.
const workerEnv = "HEADGATE_QUICKSTART_WORKER"

// A process is this program once more, as a worker in an operating-system
// process of its own. Over its standard input go the job, then the start; over
// its standard output comes a ready, then the tallies.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	to  *json.Encoder
	out *json.Decoder
	// page is where it serves its status page; "": it doesn't.
	page string
}

// A report is what a worker process says, twice.
type report struct {
	Ready   bool
	Page    string // the address of its status page
	Tallies map[string]tally
	Legacy  *legacy // it is killed now, and says no more
	Failure string
}

// startProcess runs a worker and returns once it is ready. The end of ctx
// kills it.
func startProcess(ctx context.Context, j job) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, self)}
	p.cmd.Env = append(os.Environ(), workerEnv+"=1")
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.to, p.out = json.NewEncoder(p.in), json.NewDecoder(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if err := p.to.Encode(j); err != nil {
		p.close()
		return nil, err
	}
	ready, err := p.hear()
	if err != nil {
		p.close()
		return nil, err
	}
	p.page = ready.Page
	return p, nil
}

func (p *process) hear() (report, error) {
	var r report
	if err := p.out.Decode(&r); err != nil {
		return r, fmt.Errorf("worker process %d: %w", p.cmd.Process.Pid, err)
	}
	if r.Failure != "" {
		return r, errors.New(r.Failure)
	}
	return r, nil
}

func (p *process) run(start time.Time) (report, error) {
	if err := p.to.Encode(start); err != nil {
		return report{}, err
	}
	r, err := p.hear()
	if err == nil && r.Legacy != nil {
		if _, err := p.hear(); !errors.Is(err, io.EOF) {
			return r, fmt.Errorf("worker process %d was to die and lives", p.cmd.Process.Pid)
		}
	}
	return r, err
}

// close ends the process and reaps it. A closed input is how it knows that
// nobody wants it any more; one that doesn't listen is killed.
func (p *process) close() {
	_ = p.in.Close()
	stubborn := time.AfterFunc(2*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer stubborn.Stop()
	_ = p.cmd.Wait() // its report has said what there is to say
}

// serve is the worker process. It ends when its work is done, or when its
// input does, which also happens if the parent is killed.
func serve(in io.Reader, out io.Writer) {
	from, to := json.NewDecoder(in), json.NewEncoder(out)
	if err := work(from, to); err != nil {
		_ = to.Encode(report{Failure: err.Error()})
	}
}

func work(from *json.Decoder, to *json.Encoder) error {
	var j job
	if err := from.Decode(&j); err != nil {
		return err
	}
	w, err := newWorker(j)
	if err != nil {
		return err
	}
	defer w.close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ready := report{Ready: true}
	if j.shows() {
		if ready.Page, err = w.servePage(ctx); err != nil {
			return err
		}
	}
	if err := to.Encode(ready); err != nil {
		return err
	}
	var start time.Time
	if err := from.Decode(&start); err != nil {
		return err
	}
	go func() {
		_, _ = from.Token() // nothing more is sent: it returns at the end
		cancel()
	}()
	if j.Death > 0 && j.Worker == 0 {
		go w.die(ctx, start, func(l legacy) { _ = to.Encode(report{Legacy: &l}) })
	}
	return to.Encode(report{Tallies: w.run(ctx, start)})
}
