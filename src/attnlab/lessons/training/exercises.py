"""Lesson 10's exercises: a training step, a classifier, a row of weights, and writing."""

from attnlab.lessons.training.phrases import CLASSIFIER
from attnlab.lessons.training.rows import ATTENTION_TO
from attnlab.lessons.training.stepping import TRAIN_STEP
from attnlab.lessons.training.writing import GENERATE

EXERCISES = (TRAIN_STEP, CLASSIFIER, ATTENTION_TO, GENERATE)
