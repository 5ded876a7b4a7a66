import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { useServices } from '../data/services.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { PathIcon } from '../kit/icons.tsx';
import { knownProjects } from '../projects/queries.ts';
import { pages, playgroundIcon } from './pages.ts';
import { isDark, preferences, setPreference } from './preferences.ts';
import { environmentOf, projectPath } from './url.ts';

interface Command {
  label: string;
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
    <Dialog title="Go to" isBare onClose={onClose}>
      <input
        className="palette-input"
        role="combobox"
        aria-label="Search pages, projects and actions"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={found.length > 0 ? `${listId}-${active}` : undefined}
        autoFocus
        autoComplete="off"
        placeholder="Search pages, projects and actions"
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
      />
      <div className="palette-list" role="listbox" id={listId} aria-label="Results">
        {found.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard works through the text field above.
          <div
            key={`${command.kind} ${command.label}`}
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
      {found.length === 0 && <p className="palette-none">Nothing has that name.</p>}
      <p className="palette-foot" aria-hidden="true">
        <kbd>↑</kbd> <kbd>↓</kbd> choose <kbd>Enter</kbd> go <kbd>Esc</kbd> close
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
      ? [{ label: text, kind: 'API request', run: () => navigate(projectPath(id, `requests/${text}`, environment)) }]
      : []),
    ...pages.map(({ label, path, icon, letter }) => ({
      label,
      kind: 'Page',
      icon,
      keys: `g ${letter}`,
      run: () => navigate(projectPath(id, path, environment)),
    })),
    {
      label: `Switch to ${other.toLowerCase()}`,
      kind: 'Environment',
      run: () => navigate(projectPath(id, here, other)),
    },
  ];
  return [
    ...(projectId === null ? [] : ofProject(projectId)),
    { label: 'All projects', kind: 'Page', run: () => navigate('/projects') },
    { label: 'Account', kind: 'Page', run: () => navigate('/account') },
    ...(isDevelopment
      ? [{ label: 'Playground', kind: 'Page', icon: playgroundIcon, run: () => location.assign('/playground') }]
      : []),
    { label: 'Documentation', kind: 'Page', run: () => location.assign('/docs') },
    { label: 'API reference', kind: 'Page', run: () => location.assign('/docs/reference') },
    ...knownProjects(client).map(({ id, name }) => ({
      label: name,
      kind: 'Project',
      run: () => navigate(projectPath(id, 'overview', environment)),
    })),
    {
      label: isDark(preferences()) ? 'Light theme' : 'Dark theme',
      kind: 'Appearance',
      run: () => setPreference('theme', isDark(preferences()) ? 'light' : 'dark'),
    },
    {
      label: preferences().timeZone === 'utc' ? 'Times in local time' : 'Times in UTC',
      kind: 'Appearance',
      run: () => setPreference('timeZone', preferences().timeZone === 'utc' ? 'local' : 'utc'),
    },
    {
      label: preferences().density === 'dense' ? 'Comfortable rows' : 'Dense rows',
      kind: 'Appearance',
      run: () => setPreference('density', preferences().density === 'dense' ? 'comfortable' : 'dense'),
    },
    { label: 'Sign out', kind: 'Account', run: () => void session.signOut() },
  ];
}
