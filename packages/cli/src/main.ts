#!/usr/bin/env node
import { onHangUp } from '@parley/sfu/hang-up';
import { WebSocket } from 'ws';
import { runCli } from './cli.ts';

// Node 20 has none of its own.
if (!('WebSocket' in globalThis)) Object.assign(globalThis, { WebSocket });

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
onHangUp(() => stopping.abort());

process.exitCode = await runCli(
  {
    env: process.env,
    out: console.log,
    error: console.error,
    signal: stopping.signal,
    isTerminal: process.stderr.isTTY === true,
  },
  process.argv.slice(2),
);
// Sockets of a client that is done would keep the process for their time-outs.
if (process.exitCode !== undefined) setTimeout(() => process.exit(), 500).unref();
