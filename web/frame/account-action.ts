/** Account actions that a client may request in the URL of the area (account-graphql 8.3). */
type Target = 'profile' | 'sessions' | 'view' | 'end' | 'reset' | 'deactivate' | 'plan';

const PREFIXED = new Map<string, Target>([
  ['profile', 'profile'],
  ['sessions_list', 'sessions'],
  ['devices_list', 'sessions'],
  ['session_view', 'view'],
  ['device_view', 'view'],
  ['session_end', 'end'],
  ['device_delete', 'end'],
  ['cross_signing_reset', 'reset'],
  ['account_deactivate', 'deactivate'],
  ['plan_management', 'plan'],
]);

const UNPREFIXED = new Map<string, Target>([
  ['profile', 'profile'],
  ['sessions_list', 'sessions'],
  ['session_view', 'view'],
  ['session_end', 'end'],
  ['plan_management', 'plan'],
]);

/**
 * Returns the page for an account action. The action itself is never executed: pages that end or delete something only
 * open the confirmation.
 * @param query of the area's URL; the first value of a repeated parameter counts
 * @param protocol name in the prefix of the actions, `org.NAME.`
 * @returns path and query below the root of the area; undefined without an action
 */
export function actionTarget(query: URLSearchParams, protocol: string): string | undefined {
  const action = query.get('action');
  if (action === null) return undefined;
  const prefix = `org.${protocol}.`;
  const target = action.startsWith(prefix) ? PREFIXED.get(action.slice(prefix.length)) : UNPREFIXED.get(action);
  const deviceId = query.get('device_id') ?? '';
  switch (target) {
    case undefined:
    case 'profile':
      return '';
    case 'sessions':
      return 'sessions';
    case 'view':
      return deviceId === '' ? 'sessions' : `devices/${encodeURIComponent(deviceId)}`;
    case 'end':
      return deviceId === '' ? 'sessions' : `devices/${encodeURIComponent(deviceId)}?dialog=end`;
    case 'reset':
      return 'reset-cross-signing?deepLink=true';
    case 'deactivate':
      return '?dialog=deactivate';
    case 'plan':
      return 'plan';
  }
}
