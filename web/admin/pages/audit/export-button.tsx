import type { VNode } from 'preact';
import { Button } from '../../../components/button.tsx';
import { type Parameters, withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import { useChange } from '../../api/use-change.ts';
import { saveFile } from '../../components/download.ts';
import { ProblemNotice } from '../../components/loaded.tsx';
import { useAnnounce } from '../../frame/live.tsx';
import { useTexts } from '../../i18n/translations.ts';

/** Formats of an export, by ending of the file. */
const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

/** A function of some browsers, on https only: the file goes to the disk instead of the memory. */
type PickFile = (options: { readonly suggestedName: string }) => Promise<{
  createWritable(): Promise<WritableStream<Uint8Array>>;
}>;

declare global {
  interface Window {
    readonly showSaveFilePicker?: PickFile;
  }
}

/** Exports the events that the filters select. The export is an event itself. */
export function ExportButton({ format, filters }: { format: keyof typeof TYPES; filters: Parameters }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const announce = useAnnounce();
  const { isPending, problem, send } = useChange();
  const path = withParameters('audit-events', filters);
  const save = async (): Promise<void> => {
    const name = `audit-events-${new Date().toISOString().slice(0, 10)}.${format}`;
    const target = await pickFile(name);
    if (target === 'canceled') return;
    const response =
      target === undefined
        ? await send(() => client.file('GET', path, TYPES[format]))
        : await send(() => client.getToDisk(path, TYPES[format], target));
    if (!response.ok) return;
    if (response.data !== undefined) saveFile(name, response.data);
    announce(t('admin.audit.exported', { name }));
  };
  return (
    <>
      <Button kind="quiet" isPending={isPending} onClick={() => void save()}>
        {t(format === 'csv' ? 'admin.audit.export_csv' : 'admin.audit.export_ndjson')}
      </Button>
      {problem !== undefined && <ProblemNotice problem={problem} />}
    </>
  );
}

/** @returns undefined if this browser cannot save while it downloads */
async function pickFile(suggestedName: string): Promise<WritableStream<Uint8Array> | 'canceled' | undefined> {
  if (window.showSaveFilePicker === undefined) return undefined;
  try {
    return await (await window.showSaveFilePicker({ suggestedName })).createWritable();
  } catch (error) {
    // Other errors: the browser or its policy does not allow it here.
    return error instanceof DOMException && error.name === 'AbortError' ? 'canceled' : undefined;
  }
}
