import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { Bookmark, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { queryClient } from '../../queries.ts';
import { kit, usage as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Menu } from '../../ui/menu.tsx';
import { TextInput } from '../../ui/text-input.tsx';
import { toast } from '../../ui/toast.tsx';
import { readUsageSearch, type UsageSearch } from './search.ts';

const viewsQuery = queryOptions({ queryKey: ['usage', 'views'], queryFn: () => call(api.usage.views.$get({ query: { page: 'usage' } })) });

const FORM_ID = 'save-view';

/** Saved reports, shared by the whole account. */
export function SavedViews({ onOpen }: { readonly onOpen: (search: UsageSearch) => void }): JSX.Element {
  const { data, error, refetch } = useQuery(viewsQuery);
  const [openDialog, setOpenDialog] = useState<'save' | 'delete'>();
  const views = data?.views ?? [];
  const failure = data === undefined && error !== null ? <p className="max-w-72 px-2.5 py-1.5 text-bad">{error.message}</p> : undefined;
  const open = (search: string): void => onOpen(readUsageSearch(Object.fromEntries(new URLSearchParams(search))));
  return (
    <>
      <Menu
        label={t.views}
        trigger={
          <Button>
            <Bookmark aria-hidden="true" />
            {t.views}
          </Button>
        }
        head={data?.views.length === 0 ? <p className="px-2.5 py-1.5 text-muted">{t.noViews}</p> : failure}
        actions={[
          ...(failure === undefined ? [] : [{ label: kit.tryAgain, onChoose: () => void refetch() }]),
          ...views.map(({ name, search }) => ({ label: name, onChoose: () => open(search) })),
          undefined,
          { label: t.saveView, isChange: true, onChoose: () => setOpenDialog('save') },
          ...(views.length === 0 ? [] : [{ label: t.manage, isChange: true, onChoose: () => setOpenDialog('delete') }]),
        ]}
      />
      {openDialog === 'save' && <SaveDialog onClose={() => setOpenDialog(undefined)} />}
      <Dialog isOpen={openDialog === 'delete'} onClose={() => setOpenDialog(undefined)} title={t.manage}>
        <ul className="divide-y divide-line">
          {views.map((view) => (
            <li key={view.id} className="flex items-center justify-between gap-3 py-1.5 text-sm">
              <span className="min-w-0 wrap-anywhere">{view.name}</span>
              <DeleteButton view={view} />
            </li>
          ))}
        </ul>
      </Dialog>
    </>
  );
}

function SaveDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [name, setName] = useState('');
  const save = useMutation({
    mutationFn: () => call(api.usage.views.$put({ json: { page: 'usage', name, search: location.search.slice(1) } })),
    onSuccess: async () => {
      toast('good', t.saved(name));
      onClose();
      await queryClient.invalidateQueries(viewsQuery);
    },
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isBusy={save.isPending}
      title={t.saveView}
      text={t.viewText}
      actions={
        <>
          <Button disabled={save.isPending} onClick={onClose}>
            {t.cancel}
          </Button>
          <Button variant="primary" type="submit" form={FORM_ID} isBusy={save.isPending} disabled={name.trim() === ''}>
            {t.save}
          </Button>
        </>
      }
    >
      <form
        id={FORM_ID}
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Field label={t.viewName} error={save.error?.message}>
          {(wiring) => <TextInput {...wiring} value={name} onText={setName} maxLength={80} />}
        </Field>
      </form>
    </Dialog>
  );
}

function DeleteButton({ view }: { readonly view: { readonly id: string; readonly name: string } }): JSX.Element {
  const remove = useMutation({
    mutationFn: () => call(api.usage.views[':id'].$delete({ param: { id: view.id } })),
    onSuccess: async () => {
      toast('good', t.deleted(view.name));
      await queryClient.invalidateQueries(viewsQuery);
    },
    onError: (error) => toast('bad', error.message),
  });
  return (
    <Button size="sm" variant="quiet" aria-label={t.deleteView(view.name)} isBusy={remove.isPending} onClick={() => remove.mutate()}>
      <Trash2 aria-hidden="true" />
    </Button>
  );
}
