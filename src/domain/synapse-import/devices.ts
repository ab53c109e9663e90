import { isIP } from 'node:net';
import { newIdSql } from '#platform/postgres/statement.ts';
import { ACCOUNT_OF_ROW, columnsOf, type ImportStep, localpartOf, timeOf } from './entity.ts';

interface SourceDevice {
  readonly user_id: string;
  readonly device_id: string;
  readonly display_name: string | null;
  readonly last_seen: number | null;
  readonly ip: string | null;
  readonly user_agent: string | null;
}

const MAX_NAME_CHARACTERS = 255;
const MAX_USER_AGENT_CHARACTERS = 512;
const UNKNOWN = { display_name: null, last_seen: null, ip: null, user_agent: null };

/** Keys for cross-signing have rows of devices there, too: those are hidden. */
const DEVICE_IS_REAL = 'not coalesce(d.hidden, false)';

/**
 * Sessions of chat clients, one for each device: also for those without a token, which somebody may sign in on again and
 * which Synapse would delete if they had no session here. Synapse does not know when somebody signed in, so they are as old
 * as the account.
 */
export const devicesStep: ImportStep<SourceDevice> = {
  entity: 'devices',
  tables: ['devices'],
  source: `select d.user_id, d.device_id, d.display_name, d.last_seen, d.ip, d.user_agent
             from devices d where ${DEVICE_IS_REAL}`,
  load: loadSessions,
  end: async ({ target }) => await target.complete('compat_sessions'),
};

/** Devices that only tokens name. */
export const devicesOfTokensStep: ImportStep<Pick<SourceDevice, 'user_id' | 'device_id'>> = {
  entity: 'devices of tokens',
  tables: [],
  source: `select t.user_id, t.device_id
             from (select user_id, device_id from access_tokens where device_id is not null and puppets_user_id is null
                   union select user_id, device_id from refresh_tokens) t
            where not exists (select from devices d
              where d.user_id = t.user_id and d.device_id = t.device_id and ${DEVICE_IS_REAL})`,
  load: async (context, rows) =>
    await loadSessions(
      context,
      rows.map((row) => ({ ...UNKNOWN, ...row })),
    ),
};

async function loadSessions(
  { target, suffix }: Parameters<ImportStep<SourceDevice>['load']>[0],
  rows: readonly SourceDevice[],
) {
  const devices = rows.map((row) => ({
    username: localpartOf(row.user_id, suffix) ?? null,
    deviceId: row.device_id,
    name: [...(row.display_name ?? '')].slice(0, MAX_NAME_CHARACTERS).join('') || null,
    lastSeen: timeOf(row.last_seen),
    address: isIP(row.ip ?? '') === 0 || row.ip?.includes('%') ? null : row.ip,
    userAgent: row.user_agent?.slice(0, MAX_USER_AGENT_CHARACTERS) || null,
  }));
  const done = await target.execute(
    `insert into compat_sessions (id, user_id, device_id, human_name, user_agent, created_at, last_active_at, last_active_ip)
     select ${newIdSql('u.created_at')}, u.id, b.device_id, b.name, b.user_agent, u.created_at, b.last_seen, b.address
       from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::inet[], $6::text[])
         as b (username, device_id, name, last_seen, address, user_agent)
       ${ACCOUNT_OF_ROW}`,
    columnsOf(devices, ['username', 'deviceId', 'name', 'lastSeen', 'address', 'userAgent']),
  );
  return { done, skipped: { 'unknown account': rows.length - done } };
}
