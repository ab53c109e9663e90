import type { VNode } from 'preact';
import { type AreaFiles, renderAreaDocument } from '#browser/area-document.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { HttpResponse } from '#platform/http/response.ts';

/** What the area's page is built from. It is the same for every user. */
export interface AreaParts {
  readonly files: AreaFiles;
  readonly protocolName: string;
  readonly version: string;
  /** The homeserver stores cross-signing keys, which a user may need to reset. */
  readonly hasCrossSigning: boolean;
  /** Password recovery by email always signs applications out. */
  readonly recoveryEndsApplications: boolean;
  /** In characters. */
  readonly minimumPasswordLength: number;
  /** Lifetime of an emailed code. */
  readonly codeMinutes: number;
  /** Path prefix of client logos, before the client ID. Undefined if logos are not shown. */
  readonly clientLogosPath: string | undefined;
  /** Whether the area shows the operator's plan management page in a frame. */
  readonly hasPlanManagement: boolean;
  /** Sources that the area's pages may show in frames. */
  readonly frames: readonly string[];
  /** Paths below the origin. */
  readonly rootPath: string;
  readonly graphqlPath: string;
  readonly loginPath: string;
  readonly logoutPath: string;
}

interface Props {
  readonly parts: AreaParts;
  readonly translations: Translations;
}

/** Renders the page that loads the account area. */
export function renderArea(
  parts: AreaParts,
  translations: Translations,
  options: { readonly isInOneLanguage?: boolean } = {},
): HttpResponse {
  return renderAreaDocument({
    ...options,
    files: parts.files,
    translations,
    title: translations.t('account_area.title'),
    script: 'account.js',
    stylesheet: 'account.css',
    catalog: `account-${translations.language}.json`,
    frames: parts.frames,
    pageClass: 'page page-area',
    content: <Content {...{ parts, translations }} />,
  });
}

/** Shapes in place of the page until its script has loaded. Browsers without scripts do not show them. */
function Shapes(): VNode {
  return (
    <div class="first-paint" aria-hidden="true">
      <span class="skeleton" />
      <span class="skeleton skeleton-tabs" />
      <span class="skeleton skeleton-card" />
      <span class="skeleton skeleton-card" />
    </div>
  );
}

function Content({ parts, translations }: Props): VNode {
  return (
    <>
      <noscript>
        <main class="card">
          <h1>{translations.t('account_area.title')}</h1>
          <p>{translations.t('account_area.no_script')}</p>
          <p>
            <a href={parts.logoutPath}>{translations.t('index.sign_out')}</a>
          </p>
          <p>
            <a href={parts.loginPath}>{translations.t('index.sign_in')}</a>
          </p>
        </main>
      </noscript>
      <div
        id="root"
        data-root={parts.rootPath}
        data-graphql-endpoint={parts.graphqlPath}
        data-protocol={parts.protocolName}
        data-version={parts.version}
        data-cross-signing={String(parts.hasCrossSigning)}
        data-strength-estimator={parts.files.site.assetPath('strength-estimator.js')}
        data-minimum-password-length={parts.minimumPasswordLength}
        data-code-minutes={String(parts.codeMinutes)}
        data-client-logos={parts.clientLogosPath}
        data-plan-management={parts.hasPlanManagement ? 'true' : undefined}
        data-recovery-ends-applications={String(parts.recoveryEndsApplications)}
      >
        <Shapes />
      </div>
    </>
  );
}
