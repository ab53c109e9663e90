/** Listening sockets that a service manager passes to the process, as described in sd_listen_fds(3). */
import { fstatSync } from 'node:fs';
import type { Server } from 'node:http';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { HttpOptions, InheritedBind, ListenVariables } from './http-options.ts';

const FIRST_DESCRIPTOR = 3;

/** The sockets passed to this process. Each can be used once. */
export class InheritedSockets {
  readonly #variables: ListenVariables;
  readonly #taken = new Set<number>();

  constructor(variables: ListenVariables = {}) {
    this.#variables = variables;
  }

  /**
   * Returns the descriptor number for an entry of `binds`.
   * @throws ExitError 71 if it was not passed to this process, 78 if another entry uses it
   */
  take({ inherited }: InheritedBind): number {
    const { pid, names } = this.#variables;
    const count = Number(this.#variables.count ?? 0);
    if (!(count > 0)) throw refused(inherited, 'the service manager passed no sockets (LISTEN_FDS)');
    if (pid !== undefined && pid !== '' && pid !== String(process.pid)) {
      throw refused(inherited, `the sockets are for process ${pid} (LISTEN_PID), but this is process ${process.pid}`);
    }
    const index = typeof inherited === 'number' ? inherited : (names ?? '').split(':').indexOf(inherited);
    if (index < 0) throw refused(inherited, `the passed names are ${names ?? 'not set'} (LISTEN_FDNAMES)`);
    if (index >= count) throw refused(inherited, `only ${count} passed (LISTEN_FDS)`);
    if (this.#taken.has(index)) throw new ExitError(ExitCode.config, `${nameOf(inherited)} is used by two binds`);
    this.#taken.add(index);
    return FIRST_DESCRIPTOR + index;
  }
}

/**
 * Returns the descriptors that a process passes to its workers under the same numbers. It keeps them open, so that they
 * outlive every worker.
 * @throws ExitError 71 or 78 as `take` does, 71 if a descriptor is not open, 78 if it is not a socket
 */
export function inheritedDescriptors(http: Pick<HttpOptions, 'listeners' | 'listenVariables'>): readonly number[] {
  const inherited = new InheritedSockets(http.listenVariables);
  const binds = http.listeners.flatMap(({ binds }) => binds.filter((entry) => 'inherited' in entry));
  return binds.map((entry) => {
    const descriptor = inherited.take(entry);
    if (!isSocket(entry, descriptor)) throw otherKind(entry);
    return descriptor;
  });
}

function isSocket({ inherited }: InheritedBind, descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isSocket();
  } catch (error) {
    throw refused(inherited, error instanceof Error ? error.message : String(error));
  }
}

/** @throws ExitError 78 if the server's socket is of a different kind than its entry says */
export function requireKind(server: Server, { inherited, kind }: InheritedBind): void {
  const address = server.address();
  // A passed Unix socket has no address.
  const found = typeof address === 'object' && address !== null ? 'tcp' : 'unix';
  if (found !== kind) throw otherKind({ inherited, kind });
}

export function otherKind({ inherited, kind }: InheritedBind): ExitError {
  return new ExitError(ExitCode.config, `${nameOf(inherited)} is not a listening ${kind} socket`);
}

export function nameOf(inherited: InheritedBind['inherited']): string {
  return typeof inherited === 'number' ? `inherited socket ${inherited}` : `inherited socket "${inherited}"`;
}

function refused(inherited: InheritedBind['inherited'], reason: string): ExitError {
  return new ExitError(ExitCode.osError, `cannot listen on ${nameOf(inherited)}: ${reason}`);
}
