/**
 * Chooses one of several servers for a connection: the one that last worked, otherwise the first suitable one in the
 * order of the configuration. An unresponsive server causes no long delay, since the next one is tried after half a
 * second.
 */
import type { Client } from 'pg';
import { type ConnectionTarget, describeServer, type ServerAddress } from './database-options.ts';
import { codeOf, reasonOf } from './failures.ts';

/** After this time without a response, the next server is tried as well. */
const STAGGER_MS = 500;

/** The last server used for each target. */
const lastChosen = new WeakMap<ConnectionTarget, ServerAddress>();

/** All configured servers refused the connection, did not respond, or are read-only. */
class NoServerFits extends Error {
  /** Code of the first failure, which determines the hint for the operator. */
  readonly code: string | undefined;

  constructor(reasons: readonly string[], code: string | undefined) {
    super(reasons.join('; '));
    this.name = 'NoServerFits';
    this.code = code;
  }
}

/**
 * Connects to one server of the target.
 * @param attempt connects to one server, and fails if the server is unsuitable
 */
export function chooseServer(
  target: ConnectionTarget,
  attempt: (server: ServerAddress) => Promise<Client>,
): Promise<Client> {
  const { otherServers = [] } = target;
  if (otherServers.length === 0) return attempt(target);
  const preferred = lastChosen.get(target);
  const inOrder = [target, ...otherServers];
  const servers = preferred === undefined ? inOrder : [preferred, ...inOrder.filter((one) => one !== preferred)];
  return new Promise((resolve, reject) => {
    const failures = new Map<ServerAddress, unknown>();
    let started = 0;
    let isChosen = false;
    let timer: NodeJS.Timeout | undefined;
    const startNext = (): void => {
      clearTimeout(timer);
      const server = servers[started];
      if (isChosen || server === undefined) return;
      started += 1;
      timer = setTimeout(startNext, STAGGER_MS);
      attempt(server).then(
        (client) => {
          if (isChosen) {
            void client.end();
            return;
          }
          isChosen = true;
          clearTimeout(timer);
          lastChosen.set(target, server);
          resolve(client);
        },
        (error: unknown) => {
          failures.set(server, error);
          if (failures.size === servers.length && !isChosen) reject(noServerFits(inOrder, failures));
          else startNext();
        },
      );
    };
    startNext();
  });
}

function noServerFits(servers: readonly ServerAddress[], failures: ReadonlyMap<ServerAddress, unknown>): NoServerFits {
  const reasons = servers.map((server) => `${describeServer(server)}: ${reasonOf(failures.get(server))}`);
  const [first] = failures.values();
  return new NoServerFits(reasons, codeOf(first));
}
