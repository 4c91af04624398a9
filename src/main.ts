#!/usr/bin/env bun
import { StopSignal } from './stop-signal.ts';
import { tuneRuntime } from './tune-runtime.ts';

// A server's settings of the runtime and its signals come before everything else: loading the program takes a while and starts threads.
const isServer = process.argv[2] === 'serve';
if (isServer) tuneRuntime();
const stop = isServer ? new StopSignal() : undefined;
const { runCommandLine } = await import('./commands/command-line.ts');
await runCommandLine(stop);
