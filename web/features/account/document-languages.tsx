import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { JSX } from 'react'
import { DOCUMENT_LANGUAGES, documentLanguage, type DocumentLanguage } from '#contract/document.ts'
import { chooseDocumentLanguages, documentLanguagesQuery } from '#web/data/documents/document-languages.ts'
import { toast } from '#web/ui/toast.tsx'
import { SelectField } from '#web/ui/select-field.tsx'

const NAMES: Record<DocumentLanguage, string> = {
  ara: 'Arabic',
  ces: 'Czech',
  chi_sim: 'Chinese, simplified',
  chi_tra: 'Chinese, traditional',
  dan: 'Danish',
  deu: 'German',
  ell: 'Greek',
  eng: 'English',
  fas: 'Persian',
  fin: 'Finnish',
  fra: 'French',
  heb: 'Hebrew',
  hin: 'Hindi',
  hun: 'Hungarian',
  ita: 'Italian',
  jpn: 'Japanese',
  kor: 'Korean',
  nld: 'Dutch',
  nor: 'Norwegian',
  pol: 'Polish',
  por: 'Portuguese',
  ron: 'Romanian',
  rus: 'Russian',
  spa: 'Spanish',
  swe: 'Swedish',
  tha: 'Thai',
  tur: 'Turkish',
  ukr: 'Ukrainian',
  vie: 'Vietnamese',
}
const BY_NAME = DOCUMENT_LANGUAGES.toSorted((one, other) => NAMES[one].localeCompare(NAMES[other], 'en'))

/** The languages that OCR tries first. */
export function DocumentLanguages(): JSX.Element {
  const languages = useQuery(documentLanguagesQuery())
  const choose = useMutation(chooseDocumentLanguages(useQueryClient()))
  const chosen = choose.isPending ? choose.variables[0] : languages.data?.[0]
  const take = (value: string) =>
    choose.mutate(documentLanguage.array().parse(value === '' ? [] : [value]), {
      onError: (error) => {
        console.error(error)
        toast({ title: 'Error', description: 'The language could not be saved.', variant: 'destructive' })
      },
    })
  return (
    <SelectField
      label="Language of scans, tried first"
      value={chosen ?? ''}
      disabled={!languages.isSuccess}
      options={[
        { value: '', label: 'Any' },
        ...BY_NAME.map((language) => ({ value: language, label: NAMES[language] })),
      ]}
      onChange={take}
    />
  )
}
