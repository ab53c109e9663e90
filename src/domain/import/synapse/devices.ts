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

/** Cross-signing keys are stored as hidden devices there. */
const DEVICE_IS_REAL = 'not coalesce(d.hidden, false)';

/**
 * Imports one chat client session per device. This includes devices without a token: a user may sign in there once
 * more, and Synapse would delete devices without a session here. Synapse does not store sign-in times, so the sessions
 * are as old as the account.
 */
export const devicesStep: ImportStep<SourceDevice> = {
  entity: 'devices',
  tables: ['devices'],
  source: `select d.user_id, d.device_id, d.display_name, d.last_seen, d.ip, d.user_agent
             from devices d where ${DEVICE_IS_REAL}`,
  load: loadSessions,
  end: async ({ target }) => await target.complete('compat_sessions'),
};

/** Imports devices that only tokens refer to. */
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
