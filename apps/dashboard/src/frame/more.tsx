import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';

/** The rest of a long list, on request. */
export function More({
  query,
}: {
  query: { hasNextPage?: boolean; isFetchingNextPage?: boolean; fetchNextPage?: () => unknown };
}) {
  const { hasNextPage, isFetchingNextPage = false, fetchNextPage } = query;
  if (!hasNextPage || !fetchNextPage) return null;
  return (
    <p className="more">
      <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {t('frame.showMore')}
      </Button>
    </p>
  );
}
