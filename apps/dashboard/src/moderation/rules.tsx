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
      <HookPanel hook={overview.hook} />
    </div>
  );
}

function LinksPanel({ links }: Pick<ModerationOverview, 'links'>) {
  const { may } = useProject();
  const api = useApi();
  const change = useChangeSettings(api);
  const done = useDone();
  const form = useForm({
    initial: { links: links as string },
    // The select offers exactly the rules.
    submit: (values) => change(({ wordLists }) => ({ wordLists, links: values.links as typeof links })),
    onDone: () => done(t('moderation.linksSaved')),
  });
  return (
    <form className="panel stack" onSubmit={form.onSubmit} noValidate aria-labelledby="links">
      <h2 id="links">{t('moderation.links')}</h2>
      {form.failure && <ErrorNotice failure={form.failure} />}
      <SelectField
        label={t('moderation.links')}
        isLabelHidden
        hint={t('moderation.linksHint')}
        disabled={!may('chat:manage')}
        options={Object.entries(linkLabels).map(([value, label]) => ({ value, label: t(label) }))}
        {...form.field('links')}
      />
      {may('chat:manage') && (
        <div className="row">
          <Button
            type="submit"
            isBusy={form.isBusy}
            waitSeconds={form.waitSeconds}
            disabled={form.values.links === links}
          >
            {t('words.save')}
          </Button>
        </div>
      )}
    </form>
  );
}
