import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { useServices } from '../data/services.tsx';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { Dialog } from '../kit/dialog.tsx';
import { PathIcon } from '../kit/icons.tsx';
import { knownProjects } from '../projects/queries.ts';
import { pages, playgroundIcon } from './pages.ts';
import { isDark, preferences, setPreference } from './preferences.ts';
import { environmentOf, projectPath } from './url.ts';

interface Command {
  label: string;
  /** Of what may share its name with another. */
  id?: string;
  kind: string;
  /** The keys that do the same. */
  keys?: string;
  icon?: string;
  run: () => void;
}

/** Every page, project and switch by name. */
export function Palette({ projectId, onClose }: { projectId: string | null; onClose: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const listId = useId();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const commands = useCommands(projectId, text.trim());
  const found = commands.filter(({ label, kind }) =>
    words.every((word) => `${kind} ${label}`.toLowerCase().includes(word)),
  );
  const active = Math.min(at, Math.max(0, found.length - 1));
  // The focus stays in the field: the list does not follow by itself.
  useEffect(() => {
    document.getElementById(`${listId}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [listId, active]);

  function choose(command: Command | undefined): void {
    if (!command) return;
    onClose();
    command.run();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) setAt((active + step + found.length) % found.length);
    else if (event.key === 'Enter') choose(found[active]);
    else return;
    event.preventDefault();
  }

  return (
    <Dialog title={t('frame.goTo')} isBare onClose={onClose}>
      <input
        className="palette-input"
        role="combobox"
        aria-label={t('frame.paletteSearch')}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={found.length > 0 ? `${listId}-${active}` : undefined}
        autoFocus
        autoComplete="off"
        placeholder={t('frame.paletteSearch')}
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
      />
      <div className="palette-list" role="listbox" id={listId} aria-label={t('frame.results')}>
        {found.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard works through the text field above.
          <div
            key={`${command.kind} ${command.id ?? command.label}`}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            className="palette-item"
            onClick={() => choose(command)}
          >
            <span className="palette-icon">{command.icon && <PathIcon path={command.icon} />}</span>
            <span>{command.label}</span>
            <span className="palette-kind">{command.kind}</span>
            {command.keys && <kbd className="only-wide">{command.keys}</kbd>}
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="palette-none">{t('frame.paletteNone')}</p>}
      <p className="palette-foot" aria-hidden="true">
        <kbd>↑</kbd> <kbd>↓</kbd> {t('frame.choose')} <kbd>Enter</kbd> {t('frame.go')} <kbd>Esc</kbd> {t('frame.close')}
      </p>
    </Dialog>
  );
}

/** As the service makes them; what an application sends of its own is found on the page. */
const requestIdPattern = /^req_[0-9a-f]{24}$/;

function useCommands(projectId: string | null, text: string): Command[] {
  const [, navigate] = useLocation();
  const { session, isDevelopment } = useServices();
  const client = useQueryClient();
  const environment = environmentOf(new URLSearchParams(location.search).get('env'));
  const other = environment === 'DEVELOPMENT' ? 'PRODUCTION' : 'DEVELOPMENT';
  const here = location.pathname.split('/')[3] ?? 'overview';

  const ofProject = (id: string): Command[] => [
    ...(requestIdPattern.test(text)
      ? [
          {
            label: text,
            kind: t('frame.kindRequest'),
            run: () => navigate(projectPath(id, `requests/${text}`, environment)),
          },
        ]
      : []),
    ...pages.map(({ label, path, icon, letter }) => ({
      label: t(label),
      kind: t('frame.kindPage'),
      icon,
      keys: `g ${letter}`,
      run: () => navigate(projectPath(id, path, environment)),
    })),
    {
      label: t('frame.switchTo', { environment: environmentName(other) }),
      kind: t('frame.environment'),
      run: () => navigate(projectPath(id, here, other)),
    },
  ];
  return [
    ...(projectId === null ? [] : ofProject(projectId)),
    { label: t('frame.allProjects'), kind: t('frame.kindPage'), run: () => navigate('/projects') },
    { label: t('frame.account'), kind: t('frame.kindPage'), run: () => navigate('/account') },
    ...(isDevelopment
      ? [
          {
            label: t('frame.playground'),
            kind: t('frame.kindPage'),
            icon: playgroundIcon,
            run: () => location.assign('/playground'),
          },
        ]
      : []),
    { label: t('frame.documentation'), kind: t('frame.kindPage'), run: () => location.assign('/docs') },
    { label: t('frame.apiReference'), kind: t('frame.kindPage'), run: () => location.assign('/docs/reference') },
    ...knownProjects(client).map(({ id, name }) => ({
      id,
      label: name,
      kind: t('frame.project'),
      run: () => navigate(projectPath(id, 'overview', environment)),
    })),
    {
      label: isDark(preferences()) ? t('frame.lightTheme') : t('frame.darkTheme'),
      kind: t('frame.kindAppearance'),
      run: () => setPreference('theme', isDark(preferences()) ? 'light' : 'dark'),
    },
    {
      label: preferences().timeZone === 'utc' ? t('frame.timesInLocal') : t('frame.timesInUtc'),
      kind: t('frame.kindAppearance'),
      run: () => setPreference('timeZone', preferences().timeZone === 'utc' ? 'local' : 'utc'),
    },
    {
      label: preferences().density === 'dense' ? t('frame.rowsComfortable') : t('frame.rowsDense'),
      kind: t('frame.kindAppearance'),
      run: () => setPreference('density', preferences().density === 'dense' ? 'comfortable' : 'dense'),
    },
    { label: t('frame.signOut'), kind: t('frame.account'), run: () => void session.signOut() },
  ];
}
