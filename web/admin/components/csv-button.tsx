import type { VNode } from 'preact';
import { Button } from '../../components/button.tsx';
import { type AdminClient, type Parameters, type TestResponse, withParameters } from '../api/admin-client.ts';
import { useClient } from '../api/context.ts';
import type { List, Resource } from '../api/documents.ts';
import { useChange } from '../api/use-change.ts';
import { useAnnounce } from '../frame/live.tsx';
import { useTexts } from '../i18n/translations.ts';
import { csvText } from './csv.ts';
import { saveFile } from './download.ts';
import { ProblemNotice } from './loaded.tsx';

/** The browser holds them in memory. */
const MAX_ROWS = 10_000;
const PAGE_SIZE = 1000;

export interface CsvColumn<Attributes> {
  readonly name: string;
  readonly value: (row: Resource<Attributes>) => string | null | undefined;
}

/** Downloads what a list shows, on all pages, as CSV. */
export function CsvButton<Attributes>({
  file,
  path,
  parameters,
  columns,
}: {
  /** Name of the file, without its ending. */
  file: string;
  /** Path of the list in the API. */
  path: string;
  /** Filters and order of the list. */
  parameters: Parameters;
  columns: readonly CsvColumn<Attributes>[];
}): VNode {
  const { t } = useTexts();
  const client = useClient();
  const announce = useAnnounce();
  const { isPending, problem, send } = useChange();
  const download = async (): Promise<void> => {
    const response = await send(() => readAll<Attributes>(client, path, parameters));
    if (!response.ok) return;
    const rows = response.data;
    const lines = [columns.map(({ name }) => name), ...rows.map((row) => columns.map(({ value }) => value(row)))];
    saveFile(`${file}.csv`, new Blob([csvText(lines)], { type: 'text/csv;charset=utf-8' }));
    announce(t(rows.length < MAX_ROWS ? 'admin.csv.done' : 'admin.csv.cut', { count: rows.length }));
  };
  return (
    <>
      <Button kind="quiet" isPending={isPending} onClick={() => void download()}>
        {t('admin.csv.download')}
      </Button>
      {problem !== undefined && <ProblemNotice problem={problem} />}
    </>
  );
}

async function readAll<Attributes>(
  client: AdminClient,
  path: string,
  parameters: Parameters,
): Promise<TestResponse<readonly Resource<Attributes>[]>> {
  const rows: Resource<Attributes>[] = [];
  let after: string | undefined;
  do {
    const part = { ...parameters, 'page[first]': String(PAGE_SIZE), 'page[after]': after, count: 'false' };
    const response = await client.get<List<Attributes>>(withParameters(path, part));
    if (!response.ok) return response;
    rows.push(...response.data.data);
    after = response.data.links.next === undefined ? undefined : response.data.data.at(-1)?.id;
  } while (after !== undefined && rows.length < MAX_ROWS);
  return { ok: true, data: rows.slice(0, MAX_ROWS) };
}
