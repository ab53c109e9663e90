import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import type { KeptConnections } from './exchange.ts';

const IDLE_MS = 30_000;
/** Ensures that a server that has moved is found at its new address, even while the old connections are busy. */
const MAX_AGE_MS = 30_000;

/** Keeps connections for later requests until they have been idle for too long or are too old. */
export function keepConnections(now: () => number): KeptConnections {
  return {
    'http:': limitAge(new HttpAgent({ keepAlive: true, timeout: IDLE_MS }), now),
    'https:': limitAge(new HttpsAgent({ keepAlive: true, timeout: IDLE_MS }), now),
  };
}

function limitAge<A extends HttpAgent>(agent: A, now: () => number): A {
  const keep = agent.keepSocketAlive.bind(agent);
  const firstKeptAt = new WeakMap<Duplex, number>();
  // The return value decides whether the connection is kept.
  agent.keepSocketAlive = (connection) => {
    const keptAt = firstKeptAt.get(connection) ?? now();
    firstKeptAt.set(connection, keptAt);
    return now() - keptAt < MAX_AGE_MS && keep(connection);
  };
  return agent;
}
