/** The stored data of a user, for administrators (operations 4.4). */

import { users } from '#domain/administration/user-listing.ts';
import { makeArchive } from '#domain/data-exports/make-archive.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { noStore } from '#platform/http/response.ts';
import { ArchiveTooLarge } from '#platform/zip/zip-archive.ts';
import { change, idOfPath, logAction, missing, type Operation } from '../definition/operation.ts';
import { USER } from './users.ts';

const ZIP_TYPE = 'application/zip';

export const userExportOperations: readonly Operation[] = [
  {
    id: 'exportUserData',
    method: 'POST',
    path: `${USER.path}/:id/data-export`,
    tag: USER.type,
    summary: 'Exports what is stored about a user',
    description:
      'Returns the archive that users can download themselves: JSON files without passwords and other secrets, and ' +
      'without chat messages. The user is not notified.',
    answers: [{ status: 200, schema: undefined, file: ZIP_TYPE, description: 'A zip file.' }],
    errors: ['invalid_id', 'not_found', 'export_too_large'],
    run: async (call) => {
      const { core, context } = call;
      const { branding, http } = core.config;
      const id = idOfPath<'user'>(context);
      const user = await users.find(core.database, id);
      if (user === undefined) throw missing('user');
      // Recorded before the first byte.
      const action = { operation: 'exportUserData', target: { type: USER.type, id, userId: id } };
      await change(call, action, async () => undefined);
      logAction(call, 'exportUserData', id);
      const now = core.clock.now();
      const source = { database: core.database, upstream: core.upstream, user: id, signal: context.signal };
      const frame = { serviceName: branding.serviceName, address: http.publicBase, now };
      try {
        const body = await makeArchive(source, frame);
        const disposition = `attachment; filename="${id}-${new Date(now).toISOString().slice(0, 10)}.zip"`;
        return {
          status: 200,
          headers: { 'content-type': ZIP_TYPE, 'content-disposition': disposition, ...noStore },
          body,
        };
      } catch (error) {
        if (error instanceof ArchiveTooLarge) throw new LatchkeyError('export_too_large');
        throw error;
      }
    },
  },
];
