import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useServices, useUser } from '../data/services.tsx';
import { isLanguage, languages } from '../i18n/language.ts';
import { t } from '../i18n/t.ts';
import { IconButton } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { SelectField } from '../kit/field.tsx';
import { MenuIcon, MoonIcon, PathIcon, PersonIcon, SearchIcon, SunIcon } from '../kit/icons.tsx';
import { Popover } from '../kit/popover.tsx';
import { EnvironmentToggle, ProjectSwitcher } from '../projects/project-switcher.tsx';
import { groups, pages, playgroundIcon } from './pages.ts';
import { Palette } from './palette.tsx';
import { browserLanguage, isDark, setPreference, usePreferences } from './preferences.ts';
import { shortcutList, useShortcuts } from './shortcuts.ts';
import { projectPath, useEnvironment } from './url.ts';

/** The frame around every page of a signed-in user. Without a project there is no side navigation. */
export function Shell({ projectId, children }: { projectId: string | null; children: ReactNode }) {
  const environment = useEnvironment();
  const [open, setOpen] = useState<'palette' | 'help' | 'menu' | null>(null);
  useShortcuts({
    to: projectId === null ? null : (page) => projectPath(projectId, page, environment),
    onPalette: () => setOpen('palette'),
    onHelp: () => setOpen('help'),
  });
  return (
    <>
      <a className="skip-link" href="#main">
        {t('frame.skip')}
      </a>
      <header className="top-bar">
        {projectId !== null && (
          <span className="only-narrow">
            <IconButton label={t('frame.menu')} onClick={() => setOpen('menu')}>
              <MenuIcon />
            </IconButton>
          </span>
        )}
        <Link href="/projects" className="brand" aria-label={t('frame.brand')}>
          <img src="/favicon.svg" alt="" width="20" height="20" />
          <span className="only-wide">Parley</span>
        </Link>
        {projectId !== null && <ProjectSwitcher projectId={projectId} />}
        {projectId !== null && <EnvironmentToggle />}
        <span className="spacer" />
        <button type="button" className="search-button" onClick={() => setOpen('palette')}>
          <SearchIcon />
          <span className="wide-text">{t('frame.search')}</span>
          <kbd className="only-wide">Ctrl K</kbd>
        </button>
        <TopSwitches />
        <AccountMenu onHelp={() => setOpen('help')} />
      </header>
      <div className={projectId === null ? 'frame' : 'frame frame-with-nav'}>
        {projectId !== null && (
          <nav className="side-nav only-wide" aria-label={t('frame.project')}>
            <NavLinks projectId={projectId} />
          </nav>
        )}
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      {open === 'palette' && <Palette projectId={projectId} onClose={() => setOpen(null)} />}
      {open === 'help' && <Shortcuts onClose={() => setOpen(null)} />}
      {open === 'menu' && projectId !== null && (
        <Dialog title={t('frame.menu')} isDrawer onClose={() => setOpen(null)}>
          <nav aria-label={t('frame.project')}>
            <NavLinks projectId={projectId} onChoose={() => setOpen(null)} />
          </nav>
        </Dialog>
      )}
    </>
  );
}

function NavLinks({ projectId, onChoose }: { projectId: string; onChoose?: () => void }) {
  const environment = useEnvironment();
  const { isDevelopment } = useServices();
  const [path] = useLocation();
  return groups.map((group) => {
    const rows = pages.filter((page) => page.group === group);
    if (rows.length === 0) return null;
    return (
      <div key={group} className="nav-group">
        {group !== 'top' && <p className="nav-heading">{t(`group.${group}`)}</p>}
        <ul>
          {rows.map(({ path: page, label, icon }) => {
            const isHere = path === `/p/${projectId}/${page}` || path.startsWith(`/p/${projectId}/${page}/`);
            return (
              <li key={page}>
                <Link
                  className="nav-link"
                  href={projectPath(projectId, page, environment)}
                  aria-current={isHere ? 'page' : undefined}
                  onClick={onChoose}
                >
                  <PathIcon path={icon} />
                  {t(label)}
                </Link>
              </li>
            );
          })}
          {group === 'build' && isDevelopment && (
            <li>
              <a className="nav-link" href="/playground">
                <PathIcon path={playgroundIcon} />
                {t('frame.playground')}
              </a>
            </li>
          )}
        </ul>
      </div>
    );
  });
}

function TopSwitches() {
  const chosen = usePreferences();
  const dark = isDark(chosen);
  const isUtc = chosen.timeZone === 'utc';
  return (
    <>
      <button
        type="button"
        className="icon-button text-switch only-wide"
        title={isUtc ? t('frame.timesUtc') : t('frame.timesLocal')}
        onClick={() => setPreference('timeZone', isUtc ? 'local' : 'utc')}
      >
        <span className="visually-hidden">{t('frame.timeZone')} </span>
        {isUtc ? 'UTC' : t('frame.local')}
      </button>
      <span className="only-wide">
        <IconButton
          label={dark ? t('frame.lightTheme') : t('frame.darkTheme')}
          onClick={() => setPreference('theme', dark ? 'light' : 'dark')}
        >
          {dark ? <SunIcon /> : <MoonIcon />}
        </IconButton>
      </span>
    </>
  );
}

function AccountMenu({ onHelp }: { onHelp: () => void }) {
  const { session } = useServices();
  const { email, name } = useUser();
  return (
    <Popover label={t('frame.account')} button={<PersonIcon />} buttonClass="icon-button" align="end">
      {(close) => (
        <div className="menu">
          <p className="menu-head">
            {name && <strong>{name}</strong>}
            <span className="muted">{email}</span>
          </p>
          <Link className="menu-item" href="/account" onClick={close}>
            {t('frame.accountAndPreferences')}
          </Link>
          <Link className="menu-item" href="/projects" onClick={close}>
            {t('frame.allProjects')}
          </Link>
          <a className="menu-item" href="/docs">
            {t('frame.documentation')}
          </a>
          <button
            type="button"
            className="menu-item"
            onClick={() => {
              close();
              onHelp();
            }}
          >
            {t('frame.shortcuts')}
          </button>
          <LanguageChoice />
          <button type="button" className="menu-item" onClick={() => void session.signOut()}>
            {t('frame.signOut')}
          </button>
        </div>
      )}
    </Popover>
  );
}

function LanguageChoice() {
  const { language } = usePreferences();
  return (
    <div className="menu-field">
      <SelectField
        label={t('frame.language')}
        value={language}
        options={[
          { value: 'browser', label: t('frame.languageOfBrowser', { language: languages[browserLanguage()] }) },
          ...Object.entries(languages).map(([value, label]) => ({ value, label })),
        ]}
        onChange={({ target: { value } }) => setPreference('language', isLanguage(value) ? value : 'browser')}
      />
    </div>
  );
}

function Shortcuts({ onClose }: { onClose: () => void }) {
  const { shortcuts } = usePreferences();
  return (
    <Dialog title={t('frame.shortcuts')} isWide onClose={onClose}>
      {shortcuts === 'off' && <p>{t('frame.lettersOff')}</p>}
      <dl className="shortcut-list">
        {shortcutList().map(([keys, does]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
