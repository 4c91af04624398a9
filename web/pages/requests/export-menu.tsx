import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { queryClient } from '../../queries.ts';
import { asQuery } from '../../as-query.ts';
import { requests as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import { toast } from '../../ui/toast.tsx';
import { apiUrl } from '../../viewed.ts';
import { exportsQuery } from './queries.ts';

interface ExportMenuProps {
  readonly filter: Readonly<Record<string, string>>;
  readonly zone: string;
  /** Undefined while unknown. */
  readonly isLarge: boolean | undefined;
}

type Format = 'csv' | 'jsonl';
const FORMATS: readonly Format[] = ['csv', 'jsonl'];

/** Menu to export the filtered requests: at once if they are few, otherwise in the background. */
export function ExportMenu({ filter, zone, isLarge }: ExportMenuProps): JSX.Element {
  const prepare = useMutation({
    mutationFn: (format: Format) => call(api.requests.exports.$post({ json: asQuery({ ...filter, zone, format }) })),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: exportsQuery.queryKey });
      const isMailed = queryClient.getQueryData(exportsQuery.queryKey)?.isMailed === true;
      toast('good', t.exports.begun, isMailed ? t.exports.begunMail : t.exports.begunText);
    },
    onError: (error) => toast('bad', error.message),
  });
  const download = (format: Format): void =>
    location.assign(apiUrl(`/api/requests/export?${new URLSearchParams({ ...filter, zone, format })}`));
  return (
    <Menu
      label={t.export}
      trigger={
        <Button isBusy={prepare.isPending} disabled={isLarge === undefined}>
          <Download aria-hidden="true" />
          {t.export}
        </Button>
      }
      actions={FORMATS.map((format) =>
        isLarge === true
          ? { label: t.prepareAs(format.toUpperCase()), isChange: true, onChoose: () => prepare.mutate(format) }
          : { label: t.exportAs(format.toUpperCase()), onChoose: () => download(format) },
      )}
    />
  );
}
