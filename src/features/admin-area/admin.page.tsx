import type { VNode } from 'preact';
import { type AreaFiles, renderAreaDocument } from '#browser/area-document.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { HttpResponse } from '#platform/http/response.ts';

/** What the page is built from. It is the same for every administrator. */
export interface AdminAreaParts {
  readonly files: AreaFiles;
  /** Paths below the origin, ending in `/`. */
  readonly rootPath: string;
  readonly basePath: string;
  readonly clientId: string;
  readonly version: string;
}

/** Renders the page that loads the admin area. */
export function renderAdminArea(parts: AdminAreaParts, translations: Translations): HttpResponse {
  return renderAreaDocument({
    files: parts.files,
    translations,
    title: translations.t('admin.title'),
    script: 'admin.js',
    stylesheet: 'admin.css',
    catalog: `admin-${translations.language}.json`,
    frames: [],
    pageClass: 'page page-admin',
    content: <Content parts={parts} translations={translations} />,
  });
}

function Content({ parts, translations }: { parts: AdminAreaParts; translations: Translations }): VNode {
  return (
    <>
      <noscript>
        <main class="card">
          <h1>{translations.t('admin.title')}</h1>
          <p>{translations.t('admin.no_script')}</p>
        </main>
      </noscript>
      <div
        id="root"
        data-root={parts.rootPath}
        data-base={parts.basePath}
        data-client-id={parts.clientId}
        data-version={parts.version}
      />
    </>
  );
}
