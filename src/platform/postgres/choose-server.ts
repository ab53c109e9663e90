/**
 * Which of several servers a connection is made to: the one that was right before, else the first that fits in the order
 * of the address. A server that is silent holds up nothing: after half a second the next one is asked as well.
 */
import type { Client } from 'pg';
import { type ConnectionTarget, describeServer, type ServerAddress } from './database-options.ts';
import { codeOf, reasonOf } from './failures.ts';

/** After this long without an answer the next server is asked too. */
const STAGGER_MS = 500;

/** The server that each target was last connected to. */
const lastChosen = new WeakMap<ConnectionTarget, ServerAddress>();

/** Every server of the address refused, did not answer, or takes no writes. */
class NoServerFits extends Error {
  /** That of the first failure, by which the operator is given a hint. */
  readonly code: string | undefined;

  constructor(reasons: readonly string[], code: string | undefined) {
    super(reasons.join('; '));
    this.name = 'NoServerFits';
    this.code = code;
  }
}

/**
 * Connects to one server of the target.
 * @param attempt connects to one, and refuses it when it does not fit
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
