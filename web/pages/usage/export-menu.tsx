import { Download } from 'lucide-react';
import type { JSX } from 'react';
import { usage as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import { apiUrl } from '../../viewed.ts';
import type { Asked } from './report.ts';

/** Files of exactly what is shown. */
export function ExportMenu({ asked }: { readonly asked: Asked }): JSX.Element {
  const action = (part: 'chart' | 'table', format: 'csv' | 'json', label: string) => ({
    label,
    onChoose: () => location.assign(apiUrl(`/api/usage/export?${new URLSearchParams({ ...asked.query, part, format })}`)),
  });
  return (
    <Menu
      label={t.export}
      trigger={
        <Button>
          <Download aria-hidden="true" />
          {t.export}
        </Button>
      }
      actions={[
        action('chart', 'csv', t.exportChart('CSV')),
        action('chart', 'json', t.exportChart('JSON')),
        undefined,
        action('table', 'csv', t.exportTable('CSV')),
        action('table', 'json', t.exportTable('JSON')),
      ]}
    />
  );
}
