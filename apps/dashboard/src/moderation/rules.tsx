import type { ModerationOverview } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SelectField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { HookPanel } from './hook-panel.tsx';
import { useDone } from './queries.ts';
import { t } from './texts.ts';
import { useChangeSettings } from './use-change-settings.ts';
import { WordListPanel } from './word-list-panel.tsx';
import { linkLabels } from './words.tsx';

/** What texts of users are held to, before anybody reads them. */
export function Rules({ overview }: { overview: ModerationOverview }) {
  const { may } = useProject();
  return (
    <div className="stack">
      {!may('chat:manage') && <p className="muted">{askFor('chat:manage')}</p>}
      <WordListPanel lists={overview.wordLists} />
      <LinksPanel key={overview.links} links={overview.links} />
      <HookPanel kind="send" hook={overview.hook} />
      <HookPanel kind="scan" hook={overview.scan} />
      <PreviewsPanel key={String(overview.linkPreviews)} isOn={overview.linkPreviews} />
    </div>
  );
}

function LinksPanel({ links }: Pick<ModerationOverview, 'links'>) {
  const change = useChangeSettings(useApi());
  return (
    <ChoicePanel
      name="links"
      title={t('moderation.links')}
      hint={t('moderation.linksHint')}
      options={Object.entries(linkLabels).map(([value, label]) => ({ value, label: t(label) }))}
      chosen={links}
      // The select offers exactly the rules.
      save={(value) => change(({ wordLists }) => ({ wordLists, links: value as typeof links }))}
      saved={t('moderation.linksSaved')}
    />
  );
}

function PreviewsPanel({ isOn }: { isOn: boolean }) {
  const { project, environment } = useProject();
  const api = useApi();
  return (
    <ChoicePanel
      name="previews"
      title={t('moderation.previews')}
      hint={t('moderation.previewsHint')}
      options={[
        { value: 'on', label: t('moderation.previewsOn') },
        { value: 'off', label: t('moderation.previewsOff') },
      ]}
      chosen={isOn ? 'on' : 'off'}
      save={(value) =>
        api.call('setProjectLinkPreviews', {
          projectId: project.id,
          query: { environment },
          body: { enabled: value === 'on' },
        })
      }
      saved={t('moderation.previewsSaved')}
    />
  );
}

interface ChoicePanelProps {
  name: string;
  title: string;
  hint: string;
  options: readonly { value: string; label: string }[];
  chosen: string;
  save: (value: string) => Promise<unknown>;
  saved: string;
}

/** A rule that is one of a few, with a button of its own. */
function ChoicePanel({ name, title, hint, options, chosen, save, saved }: ChoicePanelProps) {
  const { may } = useProject();
  const done = useDone();
  const form = useForm({
    initial: { [name]: chosen },
    submit: (values) => save(values[name] ?? chosen),
    onDone: () => done(saved),
  });
  return (
    <form className="panel stack" onSubmit={form.onSubmit} noValidate aria-labelledby={name}>
      <h2 id={name}>{title}</h2>
      {form.failure && <ErrorNotice failure={form.failure} />}
      <SelectField
        label={title}
        isLabelHidden
        hint={hint}
        disabled={!may('chat:manage')}
        options={options}
        {...form.field(name)}
      />
      {may('chat:manage') && (
        <div className="row">
          <Button
            type="submit"
            isBusy={form.isBusy}
            waitSeconds={form.waitSeconds}
            disabled={form.values[name] === chosen}
          >
            {t('words.save')}
          </Button>
        </div>
      )}
    </form>
  );
}
