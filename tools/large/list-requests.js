/**
 * The requests of all lists, from the description of the API: each alone, with each of its filters and orders, from
 * both ends, and without a count. A new operation or filter needs no change here unless its values are IDs.
 */

/** Values of filters that an example of the description does not suit. Several: each is requested. */
function valuesOf(name, operation, ids) {
  const day = (days) => new Date(Date.now() - days * 86_400_000).toISOString();
  const known = {
    ...{ user: [ids.user, ids.otherUser], actor: [ids.user, ids.otherUser, 'operator'], owner_user: [ids.user] },
    ...{ actor_user: [ids.user], owner_client: [ids.admin], 'created-by': [ids.user], provider: [ids.provider] },
    ...{ client: [ids.client, ids.otherClient], 'active-oauth2-client': [ids.client, ids.otherClient] },
    ...{ 'user-session': [ids.browserSession], 'registration-token': [ids.registrationToken] },
    ...{ search: ['person-77', 'absent'], group: ['everyone', 'team-7', 'absent'], email: ['person-77@mail.example'] },
    ...{ kind: ['login', 'admin_action', 'password_changed'], address: ['10.0.3.7', '10.0.0.0/16', '192.0.2.0/24'] },
    ...{ since: [day(1), day(300)], until: [day(1), day(300)], 'active-since': [day(1), day(20)] },
    ...{ 'created-before': [day(1), day(70)], 'created-after': [day(1), day(70)] },
    ...{ 'last-active-before': [day(1), day(70)], 'last-active-after': [day(0), day(1), day(70)] },
    ...{ expires_before: [day(-1)], expires_after: [day(1)], scope: ['openid', 'groups', 'absent'] },
    ...{ 'client-name': ['Application 77', 'absent'], 'client-uri': ['app-77', 'absent'] },
    ...{ 'grant-type': ['authorization_code', 'client_credentials'], queue: ['send-mail', 'absent'] },
    ...{ subject: ['77'], 'human-account-name': ['person-77'] },
  };
  const always = {
    listOAuth2Clients: { search: ['application 77', 'absent'] },
    listGroups: { search: ['team', 'absent'] },
  };
  return always[operation]?.[name] ?? known[name];
}

/** @param description OpenAPI document @param ids of rows in the database, as ULIDs */
export function listRequests({ paths }, ids) {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    if (get === undefined) return [];
    const parameters = get.parameters ?? [];
    if (!parameters.some(({ name }) => name === 'page[first]')) {
      return path.includes('/statistics/overview') ? [path.slice(1)] : [];
    }
    return pathsOf(path, ids).flatMap((own) => {
      const request = (...pairs) => `${own}?${new URLSearchParams(pairs)}`;
      const size = ['page[first]', '100'];
      return [
        request(),
        request(size),
        request(size, ['count', 'false']),
        ...(parameters.some(({ name }) => name === 'page[last]') ? [request(['page[last]', '100'])] : []),
        ...parameters.flatMap((parameter) =>
          variantsOf(parameter, get.operationId, ids).map((one) => request(size, ...one)),
        ),
      ];
    });
  });
}

/** Groups are the only lists below an object. */
function pathsOf(path, ids) {
  const own = path.slice(1);
  return own.includes('{id}') ? [ids.everyone, ids.team, ids.reported].map((id) => own.replace('{id}', id)) : [own];
}

function variantsOf({ name, schema }, operation, ids) {
  if (name === 'sort') return (schema.enum ?? []).map((order) => [['sort', order]]);
  const [, filter] = /^filter\[(.+)\]$/.exec(name) ?? [];
  if (filter === undefined) return [];
  const item = schema.items ?? schema;
  const enumerated = item.type === 'boolean' ? ['true', 'false'] : item.enum;
  const chosen = valuesOf(filter, operation, ids) ?? enumerated;
  if (chosen === undefined) throw new Error(`${operation}: no values for the filter ${filter}`);
  // Where it looks matters only with a text.
  const further = filter === 'search-in' ? [['filter[search]', 'person-77']] : [];
  return chosen.map((value) => [[name, value], ...further]);
}
