import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { useServices } from '../data/services.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { knownProjects } from '../projects/queries.ts';
import { pages } from './pages.ts';
import { isDark, preferences, setPreference } from './preferences.ts';
import { environmentOf, projectPath } from './url.ts';

interface Command {
  label: string;
  kind: string;
  run: () => void;
}

/** Every page, project and switch by name. */
export function Palette({ projectId, onClose }: { projectId: string | null; onClose: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const listId = useId();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = useCommands(projectId).filter(({ label, kind }) =>
    words.every((word) => `${kind} ${label}`.toLowerCase().includes(word)),
  );
  const active = Math.min(at, Math.max(0, found.length - 1));

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
    <Dialog title="Go to" onClose={onClose}>
      <input
        className="input"
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
            <span>{command.label}</span>
            <span className="palette-kind">{command.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="muted">Nothing has that name.</p>}
    </Dialog>
  );
}

function useCommands(projectId: string | null): Command[] {
  const [, navigate] = useLocation();
  const { session } = useServices();
  const client = useQueryClient();
  const environment = environmentOf(new URLSearchParams(location.search).get('env'));
  const other = environment === 'DEVELOPMENT' ? 'PRODUCTION' : 'DEVELOPMENT';
  const here = location.pathname.split('/')[3] ?? 'overview';

  const ofProject = (id: string): Command[] => [
    ...pages.map(({ label, path }) => ({
      label,
      kind: 'Page',
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
    { label: 'Sign out', kind: 'Account', run: () => void session.signOut() },
  ];
}
