package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// workerEnv marks a process as a worker of another one.
const workerEnv = "HEADGATE_FLEET_WORKER"

// A process is this program once more, as a worker in an operating-system
// process of its own. It says that it is up, gets its job, says that it is
// ready, and in the end says all that it wrote down.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	to     *gob.Encoder
	from   *gob.Decoder
	killed atomic.Bool
}

// A message is what a worker says.
type message struct {
	Failure string
	Report  *report // only the last one has it
}

// A report is what a worker wrote down.
type report struct {
	Calls      []call
	Outages    []span
	Trips      int
	Goroutines int // left behind
	Noise      []lateness
	MeanNoise  time.Duration
	MostNoise  time.Duration // the 99th percentile
}

// startProcess runs a worker and returns once it is up. The end of ctx kills it.
func startProcess(ctx context.Context) (*process, error) {
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
	p.to, p.from = gob.NewEncoder(p.in), gob.NewDecoder(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := p.hear(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// hire gives the process its job and returns once it is ready.
func (p *process) hire(j job) error {
	if err := p.to.Encode(j); err != nil {
		return err
	}
	_, err := p.hear()
	return err
}

func (p *process) hear() (message, error) {
	var m message
	if err := p.from.Decode(&m); err != nil {
		return m, fmt.Errorf("worker process %d: %w", p.cmd.Process.Pid, err)
	}
	if m.Failure != "" {
		return m, errors.New(m.Failure)
	}
	return m, nil
}

// kill ends the process with no chance to tidy up.
func (p *process) kill() {
	p.killed.Store(true)
	_ = p.cmd.Process.Kill()
}

// report waits for the worker's last word. One that was killed has none.
func (p *process) report() (*report, error) {
	m, err := p.hear()
	if p.killed.Load() {
		return nil, nil
	}
	return m.Report, err
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
	from, to := gob.NewDecoder(in), gob.NewEncoder(out)
	if err := work(from, to); err != nil {
		_ = to.Encode(message{Failure: err.Error()})
	}
}

func work(from *gob.Decoder, to *gob.Encoder) error {
	if err := to.Encode(message{}); err != nil {
		return err
	}
	var j job
	if err := from.Decode(&j); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_ = from.Decode(&struct{}{}) // nothing more is sent: it returns at the end
		cancel()
	}()
	w, err := newWorker(j)
	if err != nil {
		return err
	}
	defer w.close()
	if err := to.Encode(message{}); err != nil {
		return err
	}
	return to.Encode(message{Report: w.work(ctx)})
}

// work makes the calls, with a control beside them, and returns what there is
// to say.
func (w *worker) work(ctx context.Context) *report {
	var c control
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.watch(watching, w.Start)
	}()
	w.trips.Store(0) // what it took to connect
	w.run(ctx)
	trips := int(w.trips.Load())
	stop()
	<-watched
	left := w.leftBehind(0)
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	return &report{
		Calls: w.book.calls, Outages: w.book.outages, Trips: trips,
		Goroutines: left, Noise: c.worth(), MeanNoise: c.mean(), MostNoise: c.most(w.Plan.From),
	}
}
