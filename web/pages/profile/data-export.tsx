import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { usePageQuery } from '../../api/page-query.ts';
import { Button } from '../../components/button.tsx';
import { Moment } from '../../components/facts.tsx';
import { useFocusAfterRemoval } from '../../components/focus-after-removal.ts';
import { Loaded, ProblemNotice } from '../../components/states.tsx';
import { type AreaKey, useTranslations } from '../../i18n/translations.ts';
import { DataExportList, type DataExportListData, StartDataExport } from './data-export.generated.ts';

type Export = Extract<DataExportListData['viewer'], { __typename: 'User' }>['dataExports']['nodes'][number];

const NONE = {};
const POLL_MS = 5_000;
const DAY_MS = 86_400_000;

/** Archive of the user's data: request, progress and download. */
export function DataExport(): VNode {
  const { t } = useTranslations();
  const query = usePageQuery(DataExportList, NONE);
  const { data, reload } = query;
  const newest = data?.viewer.__typename === 'User' ? data.viewer.dataExports.nodes[0] : undefined;
  const isPending = newest?.state === 'PENDING';
  // Runs after every response, because each is a new object.
  useEffect(() => {
    if (!isPending) return;
    const timer = setTimeout(reload, POLL_MS);
    return () => clearTimeout(timer);
  }, [data]);
  return (
    <section class="section">
      <h2>{t('account.export.title')}</h2>
      <p>{t('account.export.text')}</p>
      <Loaded query={query}>{() => <Newest newest={newest} />}</Loaded>
    </section>
  );
}

/** Messages by result; undefined: the page shows that the export has started. */
const REFUSALS: Readonly<Record<string, AreaKey | undefined>> = {
  STARTED: undefined,
  IN_PROGRESS: undefined,
  RATE_LIMITED: 'account.export.limited',
  DISABLED: 'account.problem.forbidden',
};

function Newest({ newest }: { newest: Export | undefined }): VNode {
  const { t } = useTranslations();
  const { run, isPending, problem } = useAction(StartDataExport);
  const [trouble, setTrouble] = useState<AreaKey | undefined>();
  const mayAsk = newest === undefined || isOver(newest);
  useFocusAfterRemoval(mayAsk ? 1 : 0);
  const ask = async () => {
    setTrouble(undefined);
    const status = (await run(NONE))?.startDataExport.status;
    if (status !== undefined) setTrouble(status in REFUSALS ? REFUSALS[status] : 'account.problem.general');
  };
  return (
    <>
      <ProblemNotice problem={problem} />
      {trouble !== undefined && (
        <div role="alert">
          <Notice kind="danger">{t(trouble)}</Notice>
        </div>
      )}
      <div role="status">{newest !== undefined && <State newest={newest} />}</div>
      {newest?.state === 'READY' && <Download ready={newest} />}
      {mayAsk && (
        <Button kind="secondary" isPending={isPending} onClick={() => void ask()}>
          {t('account.export.ask')}
        </Button>
      )}
    </>
  );
}

/** Returns true if a new export can probably be requested. */
function isOver({ state, createdAt }: Export): boolean {
  if (state === 'READY') return Date.now() - Date.parse(createdAt) >= DAY_MS;
  return state !== 'PENDING';
}

function State({ newest: { state, expiresAt } }: { newest: Export }): VNode | null {
  const { t, rich } = useTranslations();
  switch (state) {
    case 'PENDING':
      return <Notice kind="info">{t('account.export.pending')}</Notice>;
    case 'READY':
      return <p>{rich('account.export.ready', { when: expiresAt !== null && <Moment at={expiresAt} /> })}</p>;
    case 'FAILED':
      return <Notice kind="warning">{t('account.export.failed')}</Notice>;
    default:
      return null;
  }
}

/** The browser stays on the page: the response is a file, or the reauthentication page. */
function Download({ ready: { downloadUrl, sizeBytes } }: { ready: Export }): VNode | null {
  const { t, language } = useTranslations();
  if (downloadUrl === null) return null;
  const unit = new Intl.NumberFormat(language, { style: 'unit', unit: 'kilobyte' });
  const size = unit.format(Math.ceil((sizeBytes ?? 0) / 1000));
  return (
    <p>
      <a class="button button-secondary" href={downloadUrl}>
        {t('account.export.download', { size })}
      </a>
    </p>
  );
}
