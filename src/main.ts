#!/usr/bin/env bun
import { ensureThreads } from './ensure-threads.ts';
import { StopSignal } from './stop-signal.ts';

// A server's threads and signals come before everything else: loading the program takes a while and starts threads.
const isServer = process.argv[2] === 'serve';
if (isServer) ensureThreads();
const stop = isServer ? new StopSignal() : undefined;
const { runCommandLine } = await import('./commands/command-line.ts');
await runCommandLine(stop);
