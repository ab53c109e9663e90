/**
 * Entry point of the account area. The server renders the surrounding page: `#root` with the injected configuration,
 * the brand as header, `meta[name=application-name]` with the service name, and a preload (`as="fetch"`) of the texts
 * in the user's language. All other communication uses the account API.
 */
import './styles/account.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { closeLanguageMenu } from './components/language-menu.ts';
import { readConfig } from './config.ts';
import { actionTarget } from './frame/account-action.ts';
import { keepScrollPositions } from './frame/scroll.ts';
import { loadTranslations } from './i18n/translations.ts';
import { takeStoredPath } from './reauthentication/stored-form.ts';

const element = document.getElementById('root');
if (element === null) throw new Error('the page has no place for the account area');
const config = readConfig(element);

// Before the first render, so that it shows the right page.
const target =
  location.pathname === config.root ? actionTarget(new URLSearchParams(location.search), config.protocol) : undefined;
const first = takeStoredPath(config.root) ?? (target === undefined ? undefined : config.root + target);
if (first !== undefined) history.replaceState(null, '', first);
keepScrollPositions();
closeLanguageMenu();

const translations = await loadTranslations(config.catalogue);
document.body.prepend(skipLink(translations.t('account.skip')));
// In place of the shapes that the server rendered.
element.replaceChildren();
render(<App config={config} translations={translations} />, element);

/** First element in the tab order, before the operator's header. */
function skipLink(text: string): HTMLAnchorElement {
  return Object.assign(document.createElement('a'), { className: 'skip-link', href: '#main', textContent: text });
}
