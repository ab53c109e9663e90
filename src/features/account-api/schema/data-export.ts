/** Exports of a user's account data (account-graphql 7.5). */
import type { DataExport as ListedDataExport } from '#domain/data-exports/list-data-exports.ts';
import { startDataExport } from '#domain/data-exports/start-data-export.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { DataExportId } from '#vocabulary/ids.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireBrowser, requireRecentAuthentication } from '../context/authorization.ts';
import { builder } from './builder.ts';
import { connection, connectionType, PAGE_ARGUMENTS } from './connection.ts';
import { User } from './models.ts';
import { mutationWithoutInput } from './mutation.ts';
import { CreationEvent, Node } from './node.ts';

const STATES = { pending: 'PENDING', ready: 'READY', failed: 'FAILED', expired: 'EXPIRED' } as const;
const DataExportState = builder.enumType('DataExportState', {
  description: 'In progress, ready for download, failed, or expired.',
  values: Object.values(STATES),
});

interface DataExportModel extends ListedDataExport {
  readonly type: 'DataExport';
}

const DataExport = builder.objectRef<DataExportModel>('DataExport');

builder.objectType(DataExport, {
  description: 'Archive of the data stored about a user.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    state: t.field({ type: DataExportState, resolve: ({ state }) => STATES[state] }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the archive will be deleted.',
    }),
    sizeBytes: t.exposeInt('sizeBytes', { nullable: true }),
    downloadUrl: t.field({
      type: 'Url',
      nullable: true,
      description: "For the user's browser; null unless the archive is ready.",
      resolve: ({ id, state }, _, { browser }) => (state === 'ready' ? browser.urls.dataExport(id) : undefined),
    }),
  }),
});

const DataExportConnection = connectionType('DataExport', DataExport);

builder.objectField(User, 'dataExports', (t) =>
  t.field({
    type: DataExportConnection,
    description: 'Archives that this user requested in the last seven days.',
    args: PAGE_ARGUMENTS,
    resolve: ({ id }, given, { load }) =>
      connection('data_export', load.dataExportsOfUser, id, {}, given, dataExportModel),
  }),
);

const STATUSES = { started: 'STARTED', 'in-progress': 'IN_PROGRESS', 'rate-limited': 'RATE_LIMITED' } as const;

mutationWithoutInput('startDataExport', {
  description: 'Starts an export of the data stored about the caller. At most one per day.',
  statuses: [...Object.values(STATUSES), 'DISABLED'],
  payload: {
    export: {
      type: DataExport,
      description: 'The new export, or an existing one that is in progress or was created in the last 24 hours.',
    },
  },
  resolve: async (context) => {
    const { core, browser, request } = context;
    const { user } = requireBrowser(context);
    if (!core.config.account.dataExportEnabled) return { status: 'DISABLED' };
    requireRecentAuthentication(context);
    const { language } = browser.pages.language(request);
    const started = await startDataExport(core, { user: user.id, language });
    // The account was locked or deactivated after the request was authorized.
    if (started === undefined) throw new LatchkeyError('not_found');
    context.forget();
    return { status: STATUSES[started.status], export: await findDataExport(started.id, context) };
  },
});

/** Finds an export of the caller, never another user's. */
export async function findDataExport(id: DataExportId, { load }: AccountContext): Promise<DataExportModel | undefined> {
  const found = await load.dataExports(id);
  return found === undefined ? undefined : dataExportModel(found);
}

function dataExportModel(dataExport: ListedDataExport): DataExportModel {
  return { type: 'DataExport', ...dataExport };
}
