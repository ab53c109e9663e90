/**
 * `GET /data-export/{id}`: the archive of the signed-in user's stored data (account-graphql 7.5). Requires a recent
 * authentication. Anyone else gets 404. Each download is recorded as an event of the account.
 */
import type { Browser, PageDeps } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import { dataExports } from '#domain/data-exports/list-data-exports.ts';
import { readArchive } from '#domain/data-exports/read-archive.ts';
import { isRecent } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, noStore, redirect } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import type { DataExportId } from '#vocabulary/ids.ts';

export function mount(core: Core, browser: Browser): Route[] {
  const deps = { ...core, ...browser };
  return [
    {
      method: 'GET',
      path: '/data-export/:id',
      resource: 'human',
      errorFormat: 'page',
      headRefused: true,
      handle: (context) => download(deps, context),
    },
  ];
}

async function download(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const { clock, config, database, urls, viewers } = deps;
  const id: DataExportId | undefined = parseId(context.params['id'] ?? '');
  const viewer = await viewers.read(context);
  if (id === undefined || viewer.kind !== 'active') throw new LatchkeyError('not_found');
  const { session, user } = viewer;
  const [found] = await dataExports.find(database, [id], user.id, { now: new Date(clock.now()) });
  if (found?.state !== 'ready') throw new LatchkeyError('not_found');
  const maxAge = config.account.reauthMaxAgeSeconds;
  if (maxAge !== undefined && !isRecent(session.authenticatedAt, maxAge * 1000, clock.now())) {
    return redirect(urls.reauth({ kind: 'manage_account' }));
  }
  const { clientAddress: address, userAgent } = context;
  const read = await readArchive(deps, { id, user: user.id, address, userAgent });
  if (read === undefined) throw new LatchkeyError('not_found');
  const date = new Date(read.readyAt).toISOString().slice(0, 10);
  return {
    status: 200,
    headers: {
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename="account-export-${date}.zip"`,
      ...noStore,
    },
    body: read.archive,
  };
}
