// Every word of the component in one place; a second language is a second object.

const WORDS = {
  locale: "en",
  unlabelled: "Unlabelled",
  unknownTime: "–",
  playFrom: "Play from ",
  noTime: "No time known",
  rename: "Rename ",
  renameHint: "click to rename",
  nameFor: "Name of ",
  noHits: "No hits",
  beyond: ["past the end", "The recording ends before this time; the timeline stops at its end"],
  noTimes: "The model wrote no times, so there is nothing to place on the timeline.",
  count: { speaker: ["speaker", "speakers"], segment: ["segment", "segments"] },
  status: { running: "Transcribing", done: "", no_speech: "", stopped: "Stopped", failed: "Ended by an error" },
  hint: {
    idle: "Each speaker gets a lane here, and the words appear below as they are written.",
    running: "Listening. The first words will appear here.",
    done: "The model wrote no words.",
    no_speech: "No speech was found in this recording.",
    stopped: "Stopped before the first words.",
    failed: "The run ended before the first words.",
  },
  flags: {
    preamble: ["before markup", "The model wrote this text before its first time or speaker"],
    end_before_start: ["end before start", "The model wrote an end that lies before the start"],
    negative_start: ["negative start", "The model wrote a start before the recording begins"],
    label_replaced: ["second label", "The model wrote a speaker without words just before this one"],
    open_end: ["open end", "The model wrote no end for this segment"],
  },
};
