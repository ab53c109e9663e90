/**
 * Devices at the homeserver: devices with a session are kept, and those without one are deleted (chat-compat 5.5, 11).
 */
import type { Protection } from './protection.ts';

const LOGIN = 'src/features/chat-compat/device-at-homeserver.test.ts';
const LEASE = 'src/domain/homeserver/user-lease.test.ts';
const SYNC = 'test/homeserver/device-syncs.test.ts';
const UNKNOWN = 'test/homeserver/unknown-devices.test.ts';

export const DEVICES: readonly Protection[] = [
  {
    name: 'device-lease',
    what: 'a device sync waits for a sign-in that is being sent to the homeserver',
    attack: 103,
    removals: [
      {
        text: 'and not exists (select from homeserver_leases held',
        instead: 'and true or exists (select from homeserver_leases held',
      },
      {
        text: 'on conflict (user_id) do update set owner = excluded.owner, expires_at = excluded.expires_at\n     where ',
        instead:
          'on conflict (user_id) do update set owner = excluded.owner, expires_at = excluded.expires_at\n     where true or ',
      },
    ],
    test: LOGIN,
    testName: 'delays a sync until the login ends, and the sync keeps its device',
  },
  {
    name: 'device-lease-expiry',
    what: 'the lease of a dead process expires after a minute',
    attack: 'F-01',
    removals: [
      {
        text: 'on conflict (user_id) do update set owner = excluded.owner, expires_at = excluded.expires_at\n     where ',
        instead:
          'on conflict (user_id) do update set owner = excluded.owner, expires_at = excluded.expires_at\n     where false and ',
      },
    ],
    test: LOGIN,
    testName: 'of a dead process is taken over, and the user is synced',
  },
  {
    name: 'device-lease-owed',
    what: 'taking over the lease of a dead process schedules a sync for the user',
    attack: 'F-02',
    removals: [
      { text: 'select user_id from abandoned where exists', instead: 'select user_id from abandoned where not exists' },
    ],
    test: LOGIN,
    testName: 'of a dead process is taken over, and the user is synced',
  },
  {
    name: 'device-lease-renewal',
    what: 'a lease is renewed during a homeserver call',
    attack: 'F-09',
    removals: [
      {
        text: 'update homeserver_leases set expires_at = :until::timestamptz\n',
        instead: 'update homeserver_leases set expires_at = least(expires_at, :until::timestamptz)\n',
      },
    ],
    test: LEASE,
    testName: 'is extended while the work continues, and no other process takes it',
  },
  {
    name: 'device-lease-lost',
    what: 'work stops when its lease is lost',
    attack: 'F-08',
    removals: [{ text: 'return clock.now() < this.#endsAt;', instead: 'return this.#endsAt > 0;' }],
    test: LEASE,
    testName: 'that could not be extended ends the work when it expires, and not before',
  },
  {
    name: 'device-fence',
    what: 'the statement that stores a session requires the lease',
    attack: 103,
    removals: [
      {
        text: ' and owner = :leaseOwner::uuid and exists',
        instead: ' and :leaseOwner::uuid is not null and exists',
      },
    ],
    test: LOGIN,
    testName: 'lost during the homeserver call makes a login store nothing',
  },
  {
    name: 'device-write-in-time',
    what: 'nothing is stored for a client that disconnected',
    attack: 'O-03',
    removals: [{ text: '    if (this.isAnswered || this.signal.aborted) return false;\n' }],
    test: LOGIN,
    testName: 'is released without a session when the client disconnects during the homeserver call',
  },
  {
    name: 'device-write-waited-for',
    what: 'a request that is being stored does not time out with 503',
    attack: 'O-03',
    removals: [
      { text: '    this.deadline = Number.POSITIVE_INFINITY;\n    return true;', instead: '    return true;' },
    ],
    test: 'src/platform/http/limits.test.ts',
    testName: 'writes nothing once the time limit has responded, and waits for writes in progress',
  },
  {
    name: 'device-before-session',
    what: 'no session is stored for a device that the homeserver does not know',
    attack: 'F-17',
    removals: [
      {
        text: 'if (!result.ok) throw await failureOf(',
        instead: 'if (!result.ok) await failureOf(',
      },
    ],
    test: LOGIN,
    testName: 'the homeserver has another secret',
  },
  {
    name: 'device-from-before',
    what: 'a sync of an account whose user the homeserver had before does not send the whole list',
    attack: 'O-03',
    removals: [
      { text: '      if (keepsUnknownDevices) return await syncOwnDevices(deps, notified, clock.now(), context);\n' },
    ],
    test: UNKNOWN,
    testName: 'a sign-in and a sign-out delete the own device only',
  },
  {
    name: 'device-from-before-marked',
    what: 'an account is marked unless the homeserver has just reported that the name is available',
    attack: 'O-03',
    removals: [
      {
        text: '!(homeserver.createsUsers && registration.isNewAtHomeserver)',
        instead: '!(homeserver.createsUsers || registration.isNewAtHomeserver)',
      },
    ],
    test: UNKNOWN,
    testName: 'keep devices that a homeserver has',
  },
  {
    name: 'device-from-before-new-user',
    what: 'only a user whom the homeserver has just created loses the mark',
    attack: 'O-03',
    removals: [{ text: 'result.ok && result.value.isNew && user', instead: 'result.ok && user' }],
    test: UNKNOWN,
    testName: 'a sign-in and a sign-out delete the own device only',
  },
  {
    name: 'import-first',
    what: 'the service does not start without accounts beside a homeserver that has users',
    attack: 'O-03',
    removals: [{ text: '    if (known.ok) return name;\n' }],
    test: 'src/cli/import-first.test.ts',
    testName: 'a start is refused',
  },
  {
    name: 'device-left-behind',
    what: 'a device without a session is deleted',
    attack: 'F-17',
    removals: [{ text: '    await lease.releaseOwing();\n    const afterSeconds', instead: '    const afterSeconds' }],
    test: LOGIN,
    testName: 'a lost response: the next sync deletes the device it created',
  },
  {
    name: 'device-of-locked',
    what: 'no devices of a locked account are sent to the homeserver',
    attack: 127,
    removals: [{ text: "      if (row.is_locked) return refuse(log, proof.user, 'locked');\n" }],
    test: LOGIN,
    testName: 'it is not called for',
  },
  {
    name: 'device-sync-of-ended',
    what: 'the statement that ends sessions queues the sync of their devices',
    attack: 126,
    removals: [
      {
        text: '     where :syncsDevices::boolean and gone.user_id is not null',
        instead: '     where :syncsDevices::boolean and gone.user_id is null',
      },
    ],
    test: SYNC,
    testName: 'a chat client signs out',
  },
  {
    name: 'device-sync-of-left',
    what: 'a sync keeps the devices of active sessions',
    attack: 103,
    removals: [
      {
        text: '   union\n   select s.device_id from oauth2_sessions s\n    where ',
        instead: '   union\n   select s.device_id from oauth2_sessions s\n    where false and ',
      },
    ],
    test: SYNC,
    testName: 'sends the devices of the remaining sessions',
  },
  {
    name: 'device-breaker',
    what: 'one sign-in at a time probes a failed homeserver',
    attack: 'F-17',
    removals: [
      {
        text: 'if (this.#isTrying || this.#clock.now() < this.#restsUntil) return false;',
        instead: 'if (this.#clock.now() < this.#restsUntil) return false;',
      },
    ],
    test: 'src/domain/homeserver/homeserver.test.ts',
    testName: 'one call at a time checks for recovery, and another failure restarts the pause',
  },
];
