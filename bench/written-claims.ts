/** Sentences as models write them over short passages of many kinds, right and wrong; written by hand and not used for tuning. */
import type { PlantedClaim } from './planted-claims.ts'

interface Written {
  readonly language: string
  readonly passage: string
  readonly right: readonly string[]
  readonly wrong: readonly string[]
}

const OTHER = 'Minutes of the council. Present were Harald Lindqvist, Oona Mäkelä and Gregor Samsonov of Baltic Freight. The ferry to Turku sails at 21:15.' // prettier-ignore

const SETS: readonly Written[] = [
  {
    language: 'en',
    passage: `harbour-report-2022.pdf
Annual report of the Port of Eastmere, 2022. In 2022 the port handled 3.42 million tonnes of cargo, against 3.17 million tonnes in 2021. Container traffic was 128,450 TEU. Operating income was £41.6 million and profit before tax £7.3 million. The port employs 612 people, of whom 214 work in the terminal. Chief executive Dorothy Marsh joined in September 2019. The new quay, 415 metres long, was opened on 14 June 2022 by the Minister of Transport, Alan Petrie. Three cranes were bought from Liebhart GmbH. Complaints are to be sent within 28 days to office@eastmere-port.example.`,
    right: [
      'In 2022 the port handled 3.42 million tonnes, roughly 250,000 tonnes more than in 2021 [1].',
      'Cargo grew from 3.17 to 3.42 million tonnes, an increase of about 8 % [1].',
      'The port employs just over 600 people; 398 of them work outside the terminal, the remaining 214 in it [1].',
      '- **Operating income:** £41.6m\n- **Profit before tax:** £7.3m\n\nSource: [1]',
      'The quay is 415 m long and was opened on June 14th, 2022 by Alan Petrie [1].',
      'Complaints must reach office@eastmere-port.example within four weeks [1].',
      '| Item | Value |\n| --- | --- |\n| Cargo 2022 | 3,420,000 t |\n| Containers | 128,450 TEU | \n\nAll figures are from the report [1].',
      'Dorothy Marsh has led the port since September 2019 [1], i.e. for about three years at the time of the report.',
      'The port bought 3 cranes from Liebhart [1].',
    ],
    wrong: [
      'In 2022 the port handled 3.24 million tonnes of cargo [1].',
      'Container traffic was 182,450 TEU [1].',
      'Operating income was £41.6 billion [1].',
      'The quay is 415 feet long [1].',
      'The new quay was opened on 14 July 2022 [1].',
      'The quay was opened by the Minister of Transport, Harald Lindqvist [1].',
      'Complaints are to be sent within 14 days [1].',
      'Complaints go to office@eastmere-harbour.example [1].',
      'Five cranes were bought from Liebhart GmbH [1].',
      'The chief executive joined in September 2017 [1].',
      '| Item | Value |\n| --- | --- |\n| Profit before tax | £9.3 million [1] |',
    ],
  },
  {
    language: 'de',
    passage: `Betriebsvereinbarung.docx
Betriebsvereinbarung über mobiles Arbeiten zwischen der Rheinfeld Maschinenbau GmbH und dem Betriebsrat, vertreten durch Sabine Trautmann, vom 22. März 2021. § 4 Beschäftigte können an bis zu drei Tagen in der Woche mobil arbeiten. § 5 Die Kernarbeitszeit liegt zwischen 9.30 Uhr und 15 Uhr. § 7 Der Arbeitgeber zahlt einen einmaligen Zuschuss von 450,00 Euro und monatlich 25 Euro. § 9 Die Vereinbarung kann mit einer Frist von sechs Monaten zum Jahresende gekündigt werden. Im Werk Kehl sind 1.274 Beschäftigte tätig, davon 38,5 % in Teilzeit.`,
    right: [
      'Mobiles Arbeiten ist an höchstens 3 Tagen pro Woche möglich [1].',
      'Die Kernarbeitszeit dauert von 09:30 bis 15:00 Uhr [1].',
      'Der Zuschuss beträgt einmalig 450 € und danach 25 € im Monat, also 300 € im Jahr [1].',
      'Gekündigt werden kann mit halbjähriger Frist, also 6 Monate zum Jahresende [1].',
      'Unterzeichnet wurde sie am 22.03.2021 von Frau Trautmann für den Betriebsrat [1].',
      'Rund 1.300 Menschen arbeiten in Kehl, knapp 39 % davon in Teilzeit [1].',
      'The core hours are 9:30 a.m. to 3 p.m. [1].',
      'Staff may work remotely on up to three days a week, according to the agreement of 22 March 2021 [1].',
      'Die Vereinbarung regelt zwei Zahlungen: einen einmaligen Zuschuss und einen monatlichen Betrag [1].',
    ],
    wrong: [
      'Mobiles Arbeiten ist an vier Tagen pro Woche möglich [1].',
      'Die Kernarbeitszeit endet um 16 Uhr [1].',
      'Der einmalige Zuschuss beträgt 540 Euro [1].',
      'Die Vereinbarung stammt vom 22. Mai 2021 [1].',
      'Den Betriebsrat vertritt Frau Lindqvist [1].',
      'Die Frist beträgt sechs Wochen zum Jahresende [1].',
      'Im Werk arbeiten 1.247 Beschäftigte [1].',
      'In Teilzeit arbeiten 35,8 Prozent [1].',
      'Der Zuschuss beträgt 450 Schweizer Franken [1].',
    ],
  },
  {
    language: 'fr',
    passage: `Convention signée à Lyon le 8 octobre 2020 entre la société Vercors Énergie et la commune de Saint-Aubin. La centrale produit 18,6 GWh par an, soit la consommation de 5 200 foyers. Le loyer annuel est fixé à 32 400 euros et révisé tous les cinq ans. Le conseil municipal a voté par 17 voix contre 4. Le maire, Benoît Delacroix, est entré en fonction en 2014.`,
    right: [
      'La convention a été signée le 08/10/2020 à Lyon [1].',
      'La centrale produit près de 19 GWh par an, de quoi alimenter 5200 foyers [1].',
      'Le loyer est de 32.400 € par an, soit 2 700 € par mois [1].',
      'Le conseil a voté par dix-sept voix contre quatre [1].',
      'Le loyer est révisé tous les 5 ans [1].',
      'M. Delacroix est maire depuis 2014 [1].',
      'The rent is EUR 32,400 a year, under an agreement of October 8, 2020 [1].',
    ],
    wrong: [
      'La convention a été signée le 18 octobre 2020 [1].',
      'La centrale produit 16,8 GWh par an [1].',
      'Le loyer annuel est de 34 200 euros [1].',
      'Le conseil a voté par dix-huit voix contre quatre [1].',
      'Le maire, Gregor Samsonov, est en fonction depuis 2014 [1].',
      'Le loyer est révisé tous les trois ans [1].',
      'La convention a été signée à Grenoble [1].',
    ],
  },
  {
    language: 'es',
    passage: `Acta del 3 de diciembre de 2018. La cooperativa Valle Hondo cuenta con 1.486 socios y facturó 12,8 millones de euros, un 6,5 % más que en 2017. El presidente, Ignacio Barrera, propuso invertir 900.000 euros en riego. La asamblea terminó a las 20:45.`,
    right: [
      'La cooperativa facturó 12.800.000 € y tiene casi 1.500 socios [1].',
      'La asamblea del 3-12-2018 terminó a las 20.45 [1].',
      'Barrera propuso invertir 0,9 millones de euros [1].',
      'La facturación creció un 6,5% respecto a 2017 [1].',
      'The cooperative has 1,486 members and a turnover of €12.8 million [1].',
    ],
    wrong: [
      'La cooperativa facturó 12,8 mil millones de euros [1].',
      'La cooperativa cuenta con 1.846 socios [1].',
      'La asamblea terminó a las 21:45 [1].',
      'El presidente, Harald Lindqvist, propuso invertir 900.000 euros [1].',
      'La facturación creció un 5,6 % [1].',
    ],
  },
  {
    language: 'ru',
    passage: `Протокол от 17 февраля 2023 г. Завод «Северный» выпустил 45,2 тыс. тонн бумаги, что на 8 % больше, чем в 2022 году. Директор Олег Никифоров сообщил, что на заводе работает 2 310 человек. Новый цех площадью 6 400 м² обойдётся в 1,3 млрд рублей.`,
    right: [
      'Завод выпустил 45 200 тонн бумаги, на 8% больше, чем годом ранее [1].',
      'Протокол датирован 17.02.2023 [1].',
      'По словам Никифорова, работает около 2300 человек [1].',
      'Цех стоит 1300 млн рублей [1].',
      'The new shop of 6,400 square metres will cost 1.3 billion roubles [1].',
    ],
    wrong: [
      'Завод выпустил 54,2 тыс. тонн бумаги [1].',
      'Протокол датирован 17 марта 2023 года [1].',
      'На заводе работает 2 130 человек [1].',
      'Новый цех обойдётся в 1,3 млн рублей [1].',
      'Директор Григорий Самсонов сообщил о цехе [1].',
    ],
  },
  {
    language: 'ja',
    passage: `議事録 令和5年4月20日。市立図書館の蔵書は約32万5千冊で、前年より1.8%増えた。開館時間は午前9時から午後7時まで。予算は2億4,600万円で、館長は森下健一氏である。貸出期間は二週間、延長は一回に限る。`,
    right: [
      '蔵書は32万5000冊です[1]。',
      '会議は2023年4月20日に開かれました[1]。',
      '開館時間は9:00から19:00までです[1]。',
      '予算は約2億5千万円です[1]。',
      '貸出期間は14日間です[1]。',
      'The library holds about 325,000 volumes and has a budget of 246 million yen [1].',
    ],
    wrong: [
      '蔵書は約35万2千冊です[1]。',
      '会議は2023年5月20日に開かれました[1]。',
      '開館時間は午前9時から午後8時までです[1]。',
      '予算は2億6,400万円です[1]。',
      '貸出期間は三週間です[1]。',
      '館長は高橋健一氏です[1]。',
    ],
  },
  {
    language: 'zh',
    passage: `会议纪要，2021年9月30日。公司现有员工3,860人，上半年营业收入15.7亿元，同比增长22.4%。新厂房面积为4.8万平方米，预计于2023年6月投产。总经理周文博表示，研发投入占收入的9%。`,
    right: [
      '公司现有员工3860名，上半年收入为15.7亿元[1]。',
      '新厂房面积为48,000平方米[1]。',
      '收入同比增长约22%[1]。',
      'The company has 3,860 employees and plans to start production in June 2023 [1].',
    ],
    wrong: [
      '公司现有员工3,680人[1]。',
      '上半年营业收入为15.7万元[1]。',
      '收入同比增长24.2%[1]。',
      '预计于2023年8月投产[1]。',
    ],
  },
  {
    language: 'nl',
    passage: `Jaarverslag van Stichting Waterrand. In 2020 ontving de stichting 86 aanvragen, waarvan 31 werden toegekend. Het vermogen bedroeg € 2,15 miljoen op 31 december 2020. Penningmeester Ingrid Vermeulen trad af na zeven jaar. Vergaderingen beginnen om half acht 's avonds.`,
    right: [
      'De stichting kende 31 van de 86 aanvragen toe, ongeveer 36 procent [1].',
      'Het vermogen was 2.150.000 euro per 31-12-2020 [1].',
      'Vermeulen was 7 jaar penningmeester [1].',
      'Of 86 applications 55 were not granted, the difference to the 31 that were [1].',
    ],
    wrong: [
      'De stichting kende 13 aanvragen toe [1].',
      'Het vermogen bedroeg € 2,51 miljoen [1].',
      'Penningmeester Oona Mäkelä trad af na zeven jaar [1].',
      'Het vermogen bedroeg € 2,15 miljoen op 31 december 2019 [1].',
    ],
  },
  {
    language: 'en',
    passage: `Data sheet QX-7700
Power supply 230 V, 50 Hz. Power 1.8 kW. Noise level 62 dB. Storage temperature from -25 °C to 55 °C. Weight 14.2 kg. Complies with IEC 61000-4-2 and Regulation (EU) 2019/1781. Firmware v3.12.4. Warranty: 36 months. Service line +49 7851 8820-40.`,
    right: [
      'The QX-7700 weighs 14.2 kg (about 31 lb) and has 1,800 W [1].',
      'It may be stored between -25 and 55 °C [1].',
      'The warranty is three years [1].',
      'It complies with IEC 61000-4-2 and Regulation 2019/1781, with firmware 3.12.4 [1].',
      'Call 07851 882040 for service [1].',
      'Step 1: connect the device to 230 V. Step 2: wait [1].',
    ],
    wrong: [
      'The QX-7800 weighs 14.2 kg [1].',
      'It may be stored between -35 and 55 °C [1].',
      'The warranty is 24 months [1].',
      'It complies with Regulation (EU) 2019/1871 [1].',
      'Call +49 7851 8820-14 for service [1].',
      'It runs firmware v3.12.6 [1].',
      'The device needs 1.8 MW [1].',
      'The noise level is 26 dB [1].',
    ],
  },
  {
    language: 'ar',
    passage: `تقرير الجمعية لعام ٢٠٢٢: بلغ عدد الأعضاء ١٬٢٤٥ عضوا، وبلغت التبرعات ٣٫٦ مليون دولار. عقد الاجتماع في ١٥ مارس ٢٠٢٢.`,
    right: ['بلغ عدد الأعضاء 1245 عضوا [1].', 'بلغت التبرعات 3.6 مليون دولار في عام 2022 [1].', 'The association met on 15 March 2022 and has 1,245 members [1].'],
    wrong: ['بلغ عدد الأعضاء 1425 عضوا [1].', 'عقد الاجتماع في 16 مارس 2022 [1].'],
  },
  {
    language: 'ko',
    passage: `2022년 3월 2일 이사회 의사록. 회사의 매출은 4,520억 원으로 전년보다 7.6% 증가했다. 직원은 1,930명이며 본사는 부산에 있다.`,
    right: ['매출은 약 4500억 원입니다 [1].', '이사회는 2022-03-02에 열렸습니다 [1].', '매출은 7.6퍼센트 늘었다 [1].'],
    wrong: ['매출은 4,250억 원입니다 [1].', '직원은 1,390명입니다 [1].', '매출은 6.7% 증가했다 [1].'],
  },
] // prettier-ignore

export const WRITTEN_CLAIMS: readonly PlantedClaim[] = SETS.flatMap(({ language, passage, right, wrong }) => {
  const make = (isFault: boolean) => (answer: string) => ({ type: language, language, answer, passages: [passage, OTHER], isFault })
  return [...right.map(make(false)), ...wrong.map(make(true))]
}) // prettier-ignore
